package ansiblerole

import (
	"fmt"
	"path"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/variables"
)

// An environment is what names stand for while the playbooks and roles of one kind run, apart from the scopes in their files.
type environment struct {
	api API
	// arguments are what the argument specifications list, by name. closed is true if spec has no other fields.
	arguments map[string]*argument
	closed    bool
	// facts are the values of set_fact, register and include_vars in the pass before. collected are the values of the current pass.
	facts, collected map[string][]thunk
	// written maps the destinations of templates and copies to what they are made from.
	written map[string][]value
}

func newEnvironment(api API) environment { return environment{api: api, written: map[string][]value{}} }

// root returns the scope with the variables that the runtime sets.
func (env *environment) root() *scope {
	s := &scope{vars: map[string]thunk{}, dir: home, playbook: home}
	for name, v := range env.api.Watch.Vars {
		s.set(name, valueOf(v, 0))
	}
	object := &dict{fields: map[string]value{
		"apiVersion": textValue(env.api.Group + "/" + env.api.Version), "kind": textValue(env.api.Kind), "spec": anything(), "metadata": anything(), "status": anything(),
	}}
	// Roles of older runtimes derive the kind from the path of the inventory.
	inventory := textValue("/tmp/ansible-operator/runner/" + path.Join(env.api.Group, env.api.Version, env.api.Kind) + "/" + unknown)
	s.set("inventory_file", inventory)
	s.set("hostvars", value{alts: []any{&dict{fields: map[string]value{
		"localhost": {alts: []any{&dict{fields: map[string]value{"inventory_file": inventory}}}},
	}}}})
	s.set(variables.ObjectName(env.api.Group, env.api.Kind), value{alts: []any{object}})
	return s
}

func valueOf(v any, depth int) value {
	switch v := v.(type) {
	case nil:
		return value{alts: []any{null{}}}
	case map[string]any:
		d := &dict{fields: map[string]value{}}
		for key, child := range v {
			if depth < maxDepth {
				d.fields[key] = valueOf(child, depth+1)
			}
		}
		return value{alts: []any{d}}
	case []any:
		all := list{}
		for _, item := range v {
			if depth < maxDepth {
				all.items = append(all.items, valueOf(item, depth+1))
			}
		}
		return value{alts: []any{all}}
	default:
		return textValue(fmt.Sprint(v))
	}
}

// collect adds a value of a variable that tasks set.
func (env *environment) collect(name string, t thunk) {
	const most = 40
	switch all := env.collected[name]; {
	case len(all) < most:
		env.collected[name] = append(all, t)
	case len(all) == most:
		env.collected[name] = append(all, thunk{ready: anything()})
	}
}
