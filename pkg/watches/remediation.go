package watches

import "go.yaml.in/yaml/v3"

// The strategies of a Remediation.
const (
	strategyRollback  = "rollback"
	strategyUninstall = "uninstall"
	strategyNone      = "none"
)

// A Remediation is what happens after a failed installation or upgrade of a release.
type Remediation struct {
	// Retries is how often the operation is tried again, -1 without limit; nil is the default.
	Retries *int
	// Strategy is "uninstall", "none" or, for upgrades, "rollback"; empty is the default.
	Strategy string
}

// remediation returns a function that reads a remediation with one of some strategies.
func (p *parser) remediation(into *Remediation, strategies ...string) func(*yaml.Node) {
	return func(value *yaml.Node) {
		if value.Kind != yaml.MappingNode {
			p.addf(value, "must have the keys retries and strategy")
			return
		}
		p.mapping(value, map[string]func(*yaml.Node){
			"retries":  p.number(-1, func(n int) { into.Retries = &n }),
			"strategy": p.choice(&into.Strategy, strategies...),
		}, nil)
	}
}

// values returns the keys that are given.
func (r Remediation) values() map[string]any {
	values := map[string]any{}
	if r.Retries != nil {
		values["retries"] = *r.Retries
	}
	if r.Strategy != "" {
		values["strategy"] = r.Strategy
	}
	return values
}
