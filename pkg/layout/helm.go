package layout

import "sync"

// Helm returns the layout of operators that install Helm charts.
func Helm() *Facts { return helmFacts() }

var helmFacts = sync.OnceValue(func() *Facts {
	const noCode = "Helm projects have no Go code"
	return &Facts{
		Name: "Helm", Keys: []string{"helm/v1", keyHelm, "helm", "helm.sdk.operatorframework.io"}, Templates: "helm",
		InitEvents: []string{"charts"}, Charts: true,
		Runtime: &Runtime{
			Command: "helm-operator", Flags: []string{"metrics-bind-address", "health-probe-bind-address"},
			Repository: "ghcr.io/operon-sdk/helm-operator", Argument: "HELM_OPERATOR_IMAGE",
			SDKImage: "quay.io/operator-framework/helm-operator", Program: "/usr/local/bin/helm-operator", Sources: "the charts",
			User: "helm", Home: "/opt/helm", Files: []string{"watches.yaml", "helm-charts"},
		},
		Tool: "operator-sdk", Fingerprints: "helm/v1", Check: "make verify", AfterRename: "%s bundle",
		Unsupported:  "this command is for Go projects, and " + noCode,
		NoWebhooks:   noWebhooks("Helm", "values.schema.json of the chart"),
		NoModule:     "Helm projects have no Go module",
		NoRescaffold: noRescaffold,
		FirstKind:    append(kindFlags(), chartFlags()...),
		Refused: []Refusal{
			ChartTerms().GoFlags(),
			{Commands: []string{initCommand, createAPI}, Problem: onlyAnsible, Reasons: reasons("only Ansible operators run roles and playbooks; this is a Helm project", runFlags()...)},
			{Commands: []string{imageBuild}, Problem: "is only supported in Ansible projects", Reasons: reasons("", "collections")},
		},
	}
})

// ChartTerms returns the words for kinds with charts, in Helm projects and in Go projects.
func ChartTerms() Terms {
	return Terms{"a Helm project", "a Helm operator", "a kind with a chart", "the kinds of charts", "the objects of a kind with a chart come from the chart"}
}

// noRescaffold is the reason why projects without Go code are not scaffolded again.
const noRescaffold = "there is no code to scaffold again; 'operon upgrade' updates the files of the scaffold, and 'operon create api --force' the files of a kind"

// noWebhooks returns the reason why a layout without Go code has no webhooks. source is the file that the schema of a kind is from.
func noWebhooks(name, source string) string {
	return "webhooks are Go code, and " + name + " projects have none; validate values with " + source + ", from which the schema of the CRD is derived"
}
