package watches

import (
	"time"

	"go.yaml.in/yaml/v3"
)

// A Test is how releases are tested after installations and upgrades. Its keys are named as in Flux's HelmRelease.
type Test struct {
	// Enable runs the hooks of the chart with the event test.
	Enable bool
	// IgnoreFailures makes failed tests no failure of the installation or upgrade.
	IgnoreFailures bool
	// Timeout limits the wait for one test; 0 is the timeout of hooks.
	Timeout time.Duration
}

func (p *parser) test(into *Test) func(*yaml.Node) {
	return func(value *yaml.Node) {
		if value.Kind != yaml.MappingNode {
			p.addf(value, "must have the keys enable, ignoreFailures and timeout")
			return
		}
		p.mapping(value, map[string]func(*yaml.Node){
			"enable":         p.boolean(&into.Enable),
			"ignoreFailures": p.boolean(&into.IgnoreFailures),
			"timeout":        func(value *yaml.Node) { into.Timeout = p.duration(value) },
		}, nil)
	}
}

// values returns the keys that are given.
func (t Test) values() map[string]any {
	values := map[string]any{}
	if t.Enable {
		values["enable"] = true
	}
	if t.IgnoreFailures {
		values["ignoreFailures"] = true
	}
	if t.Timeout != 0 {
		values["timeout"] = t.Timeout.String()
	}
	return values
}
