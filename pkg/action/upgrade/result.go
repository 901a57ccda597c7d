package upgrade

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/migrate"
)

// describe adds the notes and next steps of an upgrade to the result. Conflicts and problems with the new requirements are
// returned as an error.
func (u *upgrade) describe(result *action.Result, p *action.Project) error {
	program := p.Program
	notef := func(format string, args ...any) { result.Notes = append(result.Notes, fmt.Sprintf(format, args...)) }
	kept := map[string][]string{} // by the reason
	for _, f := range u.files.Files {
		if f.State == migrate.Kept {
			kept[f.Note] = append(kept[f.Note], f.Name)
		}
	}
	for _, f := range u.files.Files {
		names := kept[f.Note]
		switch {
		case u.obstacle != nil && f.Failure == u.obstacle.failure(): // in the note about the obstacle
		case f.State == migrate.Kept && names[0] != f.Name: // in the note about the first one
		case f.Failure != "" && len(names) > 1:
			notef("kept as they are: %s and %s, as otherwise %s", f.Name, diag.Count(len(names)-1, "more file"), f.Failure)
		case f.State == migrate.Kept && strings.HasPrefix(f.Note, migrate.StaysWith) && len(names) > 1:
			notef("kept as they are: %s and %s, which stay with %s", f.Name, diag.Count(len(names)-1, "more file"), strings.TrimPrefix(f.Note, migrate.StaysWith))
		case f.State == migrate.Kept:
			for _, name := range names {
				notef("kept as it is: %s %s", name, f.Note)
			}
		case len(f.Choices) > 0:
			notef("your version is kept where the scaffold changed, too: %s: %s", f.Name, strings.Join(f.Choices, ", "))
		}
	}
	for _, n := range u.notes {
		notef("%s", n)
	}
	for _, l := range u.losses {
		notef("%s", l)
	}
	if u.obstacle != nil {
		notef("go.mod, Go code and the manifests stay as they are: %s\ncorrect it and upgrade again, or upgrade with --force and correct it then", u.obstacle)
	}
	conflicts := u.files.Conflicts()
	if len(u.changes) == 0 && len(conflicts) == 0 {
		result.Unchanged = "nothing was changed"
		if u.obstacle == nil {
			result.Unchanged = "the project is up to date, nothing was changed"
		}
		return nil
	}
	next, test := fmt.Sprintf("'%s generate' and 'make test'", program), "make test"
	if u.noProgram {
		next, test = fmt.Sprintf("'%s generate'", program), program+" bundle"
	}
	if u.untidy != nil {
		next = "'go mod tidy', " + next
	}
	if len(conflicts) > 0 {
		var names []string
		for _, f := range conflicts {
			names = append(names, f.Name)
		}
		return p.ConflictError("the scaffold", names, next)
	}
	if problem := u.problem(); problem != nil {
		return diag.Advise(problem, "correct it, then run "+next)
	}
	result.AddStepf("review what changed, then '%s'", test)
	return nil
}
