package ansiblerole

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// The steps that a role or playbook may take in a pass: minSteps, and stepsPerByte for each byte of its files. All of them may take
// passSteps, and stepsPerByte for each byte of the project, up to maxSteps.
const (
	minSteps     = 1_000_000
	passSteps    = 3_000_000
	stepsPerByte = 20
	maxSteps     = 20_000_000
)

// A budget is the number of steps that a role, a playbook or a task may take, and that it has taken. Steps are evaluations, not time, so
// that the same files always give the same rules.
type budget struct{ steps, limit int }

func (b *budget) isSpent() bool { return b.steps > b.limit }

// budgets are the budgets of a pass.
type budgets struct {
	// all are the budgets of roles by their directories, and of playbooks by their names.
	all map[string]*budget
	// pass, role and task are the budgets of the pass, of the role or playbook that is being read, and of its current task.
	pass, role, task *budget
	owner            string
	skipped          skipped
}

func newBudgets() budgets {
	return budgets{skipped: skipped{map[diag.Position]string{}, map[string]bool{}}}
}

// reset begins a pass over files with a size.
func (b *budgets) reset(size int) {
	b.all = map[string]*budget{}
	b.pass = &budget{limit: min(maxSteps, passSteps+stepsPerByte*size)}
	b.owner, b.role, b.task = "", b.pass, &budget{limit: b.pass.limit}
}

// spend reports whether the steps of the task, the role or the pass are used up.
func (b *budgets) spend(steps int) bool {
	b.task.steps += steps
	b.role.steps += steps
	if b.role != b.pass {
		b.pass.steps += steps
	}
	return b.isSpent()
}

func (b *budgets) isSpent() bool { return b.task.isSpent() || b.role.isSpent() || b.pass.isSpent() }

// begin switches to the budget of a role or playbook. The result switches back.
func (b *budgets) begin(owner string, size func(owner string) int) (end func()) {
	outer, role, task := b.owner, b.role, b.task
	if b.all[owner] == nil {
		b.all[owner] = &budget{limit: min(b.pass.limit, minSteps+stepsPerByte*size(owner))}
	}
	b.owner, b.role, b.task = owner, b.all[owner], &budget{limit: b.pass.limit}
	return func() { b.owner, b.role, b.task = outer, role, task }
}

// beginTask begins a task, which may take half of the steps that its role has left, so that others can follow an expensive one. The result
// ends the task, and records it if it was cut short.
func (b *budgets) beginTask(at diag.Position) (end func()) {
	outer := b.task
	b.task = &budget{limit: (b.role.limit - b.role.steps) / 2}
	return func() {
		if b.isSpent() {
			b.skip(at, "")
		}
		b.task = outer
	}
}

// skip records where the analysis stopped, and what else that leaves out.
func (b *budgets) skip(at diag.Position, what string) {
	if b.skipped.places[at] == "" {
		b.skipped.places[at] = what
	}
	b.skipped.owners[b.owner] = true
}

// skipped is what the budgets did not suffice for: places in the files of all kinds, with what else they leave out, and the roles and playbooks
// of the current kind.
type skipped struct {
	places map[diag.Position]string
	owners map[string]bool
}

// findings returns one finding that lists all places, or none.
func (s skipped) findings() diag.Findings {
	var places diag.Findings
	rest := "" // the file whose other tasks are skipped, too
	for _, at := range slices.SortedFunc(maps.Keys(s.places), diag.Position.Compare) {
		if at.File == rest {
			continue
		}
		if at.Line == 0 || s.places[at] != "" {
			rest = at.File
		}
		place := diag.Place(at, s.places[at], "too complex to be analyzed completely")
		place.Listed = "    " + place.Listed
		places = append(places, place)
	}
	if len(places) == 0 {
		return nil
	}
	return diag.Findings{{
		Position: places[0].Position, Related: places,
		Problem: fmt.Sprintf("too complex to be analyzed completely: %s; the manager's role has permissions for the kinds that their roles and playbooks name literally, and may lack others:",
			diag.Count(len(places), "place")),
	}}
}

// size returns the size of a role, a playbook or, for the empty string, the project.
func (r *reader) size(owner string) int {
	size := 0
	for _, name := range r.paths {
		if name == owner || owner == "" || strings.HasPrefix(name, owner+"/") {
			size += cmp.Or(len(r.files[name]), 1)
		}
	}
	return size
}
