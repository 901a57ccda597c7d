package action

import (
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
)

// Refuse returns an error if the layout of the project has a reason why it does not support a command.
func (p *Project) Refuse(reason func(*layout.Facts) string) error {
	config, err := p.Load(AnyLayout)
	if err != nil || reason(config.Facts()) == "" {
		return nil // other problems are reported when the project is loaded
	}
	return config.Refuse(reason(config.Facts()))
}

// RefuseWebhooks returns an error if the layout of the project has no webhooks.
func (p *Project) RefuseWebhooks() error {
	return p.Refuse(func(f *layout.Facts) string { return f.NoWebhooks })
}

// LoadWithCharts reads PROJECT of a project that may have charts.
func (p *Project) LoadWithCharts() (*project.Config, error) {
	config, err := p.Load(ScaffoldedLayouts)
	if err == nil && config.Facts().NoCharts != "" {
		err = config.Refuse(config.Facts().NoCharts)
	}
	return config, err
}
