package ansiblerole

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A scope are the variables at a place, and the files around it.
type scope struct {
	parent *scope
	vars   map[string]thunk
	// overridden is true if set_fact overrides the variables: the variables of roles and plays, but not of tasks.
	overridden bool
	// dir is the absolute directory of the current file; role and playbook are the directories of the current role and playbook.
	dir, role, playbook string
	// inTasks is true in the tasks of a role, and false in playbooks and in lists of dependencies.
	inTasks bool
	// isDefaults is true for the defaults of a role, which all other variables override.
	isDefaults bool
	// defaults are the arguments that module_defaults adds, by the name of the module or group.
	defaults map[string]thunk
}

// A thunk is a value that is not evaluated yet.
type thunk struct {
	node  *yaml.Node
	scope *scope
	// ready is the value if node is nil.
	ready value
}

func (s *scope) child() *scope {
	return &scope{parent: s, vars: map[string]thunk{}, dir: s.dir, role: s.role, playbook: s.playbook, inTasks: s.inTasks, defaults: s.defaults}
}

// set defines a variable with a known value.
func (s *scope) set(name string, v value) { s.vars[name] = thunk{ready: v} }

func (s *scope) define(vars *yaml.Node) {
	for key, child := range fields(vars) {
		s.vars[key] = thunk{node: child, scope: s}
	}
}

// lookup returns the value of a variable. It is open if the variable is not defined, as a custom resource can define it.
func (ev *evaluator) lookup(name string, s *scope) value {
	switch name {
	case "role_path":
		return textValue(s.role)
	case "playbook_dir":
		return textValue(s.playbook)
	case "omit":
		return value{alts: []any{omitted{}}}
	}
	var found []value
	if v, ok := ev.env.api.Watch.FinalizerVars[name]; ok {
		found = append(found, valueOf(v, 0)) // in runs of the finalizer
	}
	var preset *thunk
	isDefined := false
	for at := s; at != nil; at = at.parent {
		t, ok := at.vars[name]
		if !ok {
			continue
		}
		if at.isDefaults {
			if preset == nil {
				preset = &t
			}
			continue
		}
		if _, ok := ev.env.api.Watch.Vars[name]; ok && at.overridden {
			continue // the value of the watch takes precedence
		}
		found = append(found, ev.force(t))
		if !at.overridden {
			return union(found...)
		}
		isDefined = true
		break
	}
	if !isDefined && preset != nil {
		found = append(found, ev.preset(name, *preset))
	}
	ev.spend(4 * len(ev.env.facts[name]))
	for _, fact := range ev.env.facts[name] {
		found = append(found, ev.force(fact))
	}
	if len(found) == 0 {
		return anything()
	}
	return union(found...)
}

// preset returns the value of a variable with a default, and the choices that custom resources have instead.
func (ev *evaluator) preset(name string, t thunk) value {
	v := ev.force(t)
	o, ok := ev.env.arguments[name]
	if isPrivate(name) && !ok {
		return v
	}
	switch {
	case ok && len(o.choices) > 0:
		for _, choice := range o.choices {
			v = union(v, textValue(text(choice)))
		}
	case ok || !ev.env.closed:
		v.settable = append(slices.Clip(v.settable), setting{name, ev.files.position(t.node, diag.Position{})})
	}
	return v
}

// force returns the value of a variable. One that is defined by itself adds nothing to its other values.
func (ev *evaluator) force(t thunk) value {
	if t.node == nil {
		return t.ready
	}
	key := evaluation{t.node, t.scope}
	if v, ok := ev.memory.memo[key]; ok {
		return v
	}
	if v, ok := ev.memory.partial[key]; ok {
		return v
	}
	if ev.memory.pending[t.node] || len(ev.memory.pending) > maxDepth {
		ev.memory.cycles++
		return value{open: !ev.memory.pending[t.node]}
	}
	ev.memory.pending[t.node] = true
	before := ev.memory.cycles
	v := ev.node(t.node, t.scope)
	delete(ev.memory.pending, t.node)
	if ev.memory.cycles == before {
		ev.memory.memo[key] = v
		return v
	}
	// Values that depend on one that is being evaluated may lack some of its alternatives, and are not kept.
	ev.memory.partial[key] = v
	if len(ev.memory.pending) == 0 {
		ev.memory.memo[key] = v
		clear(ev.memory.partial)
	}
	return v
}

// A memory holds the variables that are being evaluated, in any scope (tasks in loops extend a variable by itself), and the values of
// variables that were evaluated.
type memory struct {
	pending map[*yaml.Node]bool
	memo    map[evaluation]value
	// partial are the values that depend on a pending variable. cycles counts the uses of pending variables.
	partial map[evaluation]value
	cycles  int
}

// An evaluation is the evaluation of a variable.
type evaluation struct {
	node  *yaml.Node
	scope *scope
}

// ready returns the value of a variable that is known without an evaluation, or else an unknown one.
func (s *scope) ready(name string) value {
	for at := s; at != nil; at = at.parent {
		if t, ok := at.vars[name]; ok && t.node == nil {
			return t.ready
		}
	}
	return anything()
}

func (s *scope) defines(name string) bool {
	for at := s; at != nil; at = at.parent {
		if _, ok := at.vars[name]; ok {
			return true
		}
	}
	return false
}
