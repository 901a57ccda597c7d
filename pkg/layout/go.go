package layout

import "sync"

// The keys of layouts in PROJECT.
const (
	keyGoV4    = "go.kubebuilder.io/v4"
	KeyGoV3    = "go.kubebuilder.io/v3"
	keyHelm    = "helm.sdk.operatorframework.io/v1"
	keyAnsible = "ansible.sdk.operatorframework.io/v1"
)

// Go returns the layout of operators in Go. Their projects can have kinds with charts, too.
func Go() *Facts { return goFacts() }

var goFacts = sync.OnceValue(func() *Facts {
	const run = "only Ansible operators run roles and playbooks; this is a Go project"
	return &Facts{
		Name: "Go", Keys: []string{"go/v4", keyGoV4, "go", "go.kubebuilder.io"}, Templates: "go",
		MainFile: "cmd/main.go", ControllerDir: "internal/controller",
		Tool: "kubebuilder", Check: "make test", AfterRename: "make test",
		Refused: []Refusal{
			{Commands: []string{initCommand}, Problem: onlyHelm, Reasons: reasons("'operon create api' adds kinds with charts to a Go project", chartFlags()...)},
			ChartTerms().TypeFlags("cannot be combined with a chart"),
			{Commands: []string{initCommand, createAPI, createMixed}, Problem: onlyAnsible, Reasons: reasons(run, runFlags()...)},
			{Commands: []string{initCommand}, Problem: "is only valid in Helm and Ansible projects", Reasons: with(
				reasons("'operon create api' adds kinds to a Go project", "group", "version", "kind"), "crd-version", "a CRD has version v1 in a Go project")},
			{Commands: []string{createAPI}, Problem: "is only valid with a chart", Reasons: reasons("the CRDs of Go types have version v1", "crd-version")},
			{Commands: []string{imageBuild}, Problem: "is only supported in Ansible projects", Reasons: reasons("", "collections")},
			{Commands: []string{imageBuild}, Problem: "is only supported in Helm and Ansible projects", Reasons: reasons("", "runtime")},
		},
	}
})

// goV3 returns the layout of Go projects before go/v4, whose program and controllers are in directories at the root.
func goV3() *Facts {
	facts := *Go()
	f := &facts
	f.Older, f.MainFile, f.ControllerDir = true, "main.go", "controllers"
	f.NoCharts = "kinds with charts need " + keyGoV4 + "; run 'operon upgrade', which moves the project to that layout"
	return f
}
