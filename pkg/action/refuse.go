package action

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// RefuseWithoutGo returns an error with the reason if the project is one without Go code, by its technology.
func (p *Project) RefuseWithoutGo(reason func(technology string) string) error {
	config, err := p.Load(AnyLayout)
	if err != nil || config.HasGoCode() {
		return nil // other problems are reported when the project is loaded
	}
	return diag.Finding{
		Position: diag.Position{File: project.FileName}, Problem: "layout " + strings.Join(config.Layout(), ",") + ": " + reason(config.Technology()),
	}
}

// NoWebhooks returns the reason why projects without Go code have no webhooks.
func NoWebhooks(technology string) string {
	source := "values.schema.json of the chart"
	if technology == "Ansible" {
		source = "meta/argument_specs.yml of the role"
	}
	return "webhooks are Go code, and " + technology + " projects have none; validate values with " + source + ", from which the schema of the CRD is derived"
}

// loadWithCharts reads PROJECT of a project that may have charts.
func (p *Project) loadWithCharts() (*project.Config, error) {
	config, err := p.Load(ScaffoldedLayouts)
	if err == nil && config.IsAnsible() {
		err = diag.Finding{
			Position: diag.Position{File: project.FileName}, Problem: "layout " + strings.Join(config.Layout(), ",") + ": Ansible projects have no charts, but roles and playbooks",
		}
	}
	return config, err
}

// noModule returns the reason why projects without Go code have no module path.
func noModule(technology string) string { return technology + " projects have no Go module" }

// noRescaffold returns the reason why projects without Go code are not scaffolded again.
func noRescaffold(string) string {
	return "there is no code to scaffold again; 'upgrade' updates the files of the scaffold, and 'create api --force' those of a kind"
}

// goRescaffold is the reason why Go projects with charts are not scaffolded again.
const goRescaffold = "projects with charts cannot be scaffolded again yet; scaffold the Go kinds alone, and add the charts with 'create api --helm-chart'"
