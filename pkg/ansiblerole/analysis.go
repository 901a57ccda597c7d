package ansiblerole

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/rbac"
)

// An analysis reads what the watches of a project run. Its parts share the progress.
type analysis struct {
	*progress
	files  *reader
	env    *environment
	eval   *evaluator
	rules  *rules
	walker *walker
}

func newAnalysis(files Files, apis []API) *analysis {
	p := &progress{budgets: newBudgets()}
	r := newReader(files, p)
	env := &environment{}
	eval := newEvaluator(r, env, p)
	rules := newRules(eval, apis, p)
	scanner := &scanner{progress: p, eval: eval, rules: rules}
	modules := &modules{progress: p, eval: eval, rules: rules, scanner: scanner}
	return &analysis{p, r, env, eval, rules, &walker{progress: p, files: r, env: env, eval: eval, modules: modules, scanner: scanner}}
}

// maxPasses is the number of passes over the files of a kind. Each pass finds values that depend on the pass before.
const maxPasses = 3

// analyze adds the permissions for a kind.
func (a *analysis) analyze(api API) {
	grantRuntime(a.rules.permissions, api)
	*a.env = newEnvironment(api)
	a.rules.roles = map[rbac.RoleKey]bool{}
	a.skipped.owners = map[string]bool{}
	if slices.ContainsFunc(a.files.paths, a.files.mentionsSpecification) {
		specs := specReader{analysis: newAnalysis(a.files.files, nil), object: api.Watch.Object}
		all, _, found := specs.specArguments(api.Watch)
		a.env.arguments = map[string]*argument{}
		for _, o := range all {
			a.env.arguments[o.name] = o
		}
		a.env.closed = found && len(specs.walker.opened) == 0
	}
	for pass := 1; pass <= maxPasses; pass++ {
		a.final = pass == maxPasses
		a.resetPass()
		a.walker.watched(api.Watch.Playbook, api.Watch.Role)
		a.walker.watched(api.Watch.FinalizerPlaybook, api.Watch.FinalizerRole)
		a.env.facts = a.env.collected
	}
	for _, name := range slices.Sorted(maps.Keys(a.files.unreadable)) {
		a.notes = append(a.notes, a.files.unreadable[name])
	}
	clear(a.files.unreadable)
	a.grantLiterals()
}

// resetPass removes what the pass before has evaluated.
func (a *analysis) resetPass() {
	a.budgets.reset(a.files.size(""))
	a.env.collected = map[string][]thunk{}
	a.eval.reset()
	a.files.oldPlaces, a.files.places = a.files.places, map[*yaml.Node]place{}
	a.walker.scanner.scanned = map[documentKey]bool{}
	a.walker.entered, a.walker.opened = nil, nil
}
