package watches

import (
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A Rollout limits how many custom resources are upgraded at once to a new version of the operator. The zero value means no limits.
type Rollout struct {
	// MaxConcurrent is a number, at least 1, or a percentage of the custom resources of the kind, 1% to 100%, which is rounded up.
	MaxConcurrent intstr.IntOrString
	// MaxFailures is the number of failed upgrades after which the rollout still continues.
	MaxFailures int
}

func (p *parser) rollout(into *Rollout) func(*yaml.Node) {
	return func(value *yaml.Node) {
		if value.Kind != yaml.MappingNode {
			p.addf(value, "must have the key maxConcurrent, and can have maxFailures")
			return
		}
		given := false
		p.mapping(value, map[string]func(*yaml.Node){
			"maxConcurrent": func(value *yaml.Node) {
				if given = true; p.isVariable(value) {
					return
				}
				limit := intstr.Parse(value.Value)
				n, err := intstr.GetScaledValueFromIntOrPercent(&limit, 100, true)
				if err != nil || value.Kind != yaml.ScalarNode || n < 1 || n > 100 && limit.Type == intstr.String {
					p.addf(value, "%q: must be a whole number, at least 1, or a percentage from 1%% to 100%%", value.Value)
					return
				}
				into.MaxConcurrent = limit
			},
			"maxFailures": p.number(0, func(n int) { into.MaxFailures = n }),
		}, nil)
		if !given {
			p.addf(value, "maxConcurrent is required")
		}
	}
}

// values returns the keys that are given.
func (r Rollout) values() map[string]any {
	values := map[string]any{}
	if r == (Rollout{}) {
		return values
	}
	values["maxConcurrent"] = r.MaxConcurrent.IntValue()
	if r.MaxConcurrent.Type == intstr.String {
		values["maxConcurrent"] = r.MaxConcurrent.StrVal
	}
	if r.MaxFailures != 0 {
		values["maxFailures"] = r.MaxFailures
	}
	return values
}
