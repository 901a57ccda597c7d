package layout

import "maps"

// The commands whose flags depend on the layout.
const (
	initCommand = "init"
	createAPI   = "create api"
	imageBuild  = "image build"
	// createMixed is create api for a kind with a chart in a Go project.
	createMixed = "create api --helm-chart"
)

// The problems of flags of another layout.
const (
	onlyGo      = "is only valid in Go projects"
	onlyHelm    = "is only valid in Helm projects"
	onlyAnsible = "is only valid in Ansible projects"
)

// chartFlags returns the flags that select the chart of a kind, runFlags the flags that write a role or a playbook, and kindFlags the flags of
// init that name the first kind.
func chartFlags() []string {
	return []string{"helm-chart", "helm-chart-repo", "helm-chart-version", "open-schema", "full-sample", "related-images"}
}

func runFlags() []string  { return []string{"generate-role", "generate-playbook"} }
func kindFlags() []string { return []string{"group", "version", "kind", "crd-version"} }

// Terms are the words of a layout without Go code in the reasons why it does not have a flag.
type Terms struct{ Project, Operator, Kind, Kinds, Objects string }

// GoFlags returns the flags of Go projects, which a layout without Go code refuses.
func (t Terms) GoFlags() Refusal {
	module, code := t.Project+" has no Go module", t.Project+" has no Go code"
	all := t.TypeFlags("").Reasons
	maps.Copy(all, reasons(module, "repo", "fetch-deps", "skip-go-version-check"))
	maps.Copy(all, reasons(code, "license", "license-file", "owner", "no-verify", "ide"))
	all["namespaced"] = t.Operator + " watches the namespaces in WATCH_NAMESPACE, and its kinds are namespaced"
	return Refusal{Problem: onlyGo, Reasons: all}
}

// TypeFlags returns the flags of create api for kinds with Go types, which kinds with charts refuse in Go projects.
func (t Terms) TypeFlags(problem string) Refusal {
	all := reasons(t.Kind+" has no Go code", "make", "manifests", "ssa", "external-api-path", "external-api-domain", "external-api-module")
	maps.Copy(all, reasons(t.Objects, "resource", "controller", "controller-name", "image", "image-container-command", "image-container-port", "run-as-user"))
	all["namespaced"] = t.Kinds + " are namespaced"
	return Refusal{Commands: []string{createMixed}, Problem: problem, Reasons: all}
}

// CreateCommand returns the name of create api for Refusals, for a kind with or without a chart, and reports whether the kind has Go types.
func (f *Facts) CreateCommand(chart bool) (command string, types bool) {
	if f.Runtime == nil && chart {
		return createMixed, false
	}
	return createAPI, f.Runtime == nil
}

// reasons returns the same reason for some flags.
func reasons(reason string, flags ...string) map[string]string {
	m := map[string]string{}
	for _, flag := range flags {
		m[flag] = reason
	}
	return m
}

func with(m map[string]string, flag, reason string) map[string]string {
	m[flag] = reason
	return m
}
