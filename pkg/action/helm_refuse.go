package action

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// RefuseHelm returns an error with a reason if the project is a Helm project.
func (p *Project) RefuseHelm(reason string) error {
	config, err := readProject(p.tree())
	if err != nil || !config.IsHelm() {
		return nil // other problems are reported when the project is loaded
	}
	return diag.Finding{Position: diag.Position{File: project.FileName}, Problem: "layout " + strings.Join(config.Layout(), ",") + ": " + reason}
}

// The reasons why commands do not support Helm projects.
const (
	NoHelmWebhooks = "webhooks are Go code, and Helm projects have none; validate values with values.schema.json of the chart, from which the schema of the CRD is derived"
	helmModule     = "Helm projects have no Go module"
	goRescaffold   = "projects with charts cannot be scaffolded again yet; scaffold the Go kinds alone, and add the charts with 'create api --helm-chart'"
	helmRescaffold = "there is no code to scaffold again; 'upgrade' updates the files of the scaffold, and 'create api --force' those of a kind"
)
