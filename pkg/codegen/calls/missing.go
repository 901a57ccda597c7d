package calls

import (
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/makefile"
)

// missing finds calls in the other targets of the Makefile, for generators without a call.
func (f *finder) missing(m *makefile.Makefile) {
	done := map[makefile.Command]bool{}
	for _, target := range m.Targets() {
		if f.found == codegen.All {
			return
		}
		other := newFinder(f.files)
		other.nestings, other.done, other.makefiles = f.nestings, done, f.makefiles
		other.targets(m, ".", target)
		f.unfollowed |= other.found
		f.nestings = other.nestings
		for _, call := range other.calls {
			if generators, err := call.Generators(); err == nil && generators&f.found == 0 {
				f.calls = append(f.calls, call)
				f.found |= generators & codegen.All
				f.foreign = f.foreign || other.foreign
			}
		}
	}
}

// dead finds calls in the recipe of .PHONY, which make never runs: a rule with .PHONY that stands between another rule and its recipe takes
// the recipe for itself.
func (f *finder) dead(m *makefile.Makefile) {
	const phony = ".PHONY"
	for _, command := range m.Commands(phony) {
		if command.Target != phony {
			continue
		}
		s := &shell{finder: newFinder(f.files), dir: ".", at: command.Position, variables: map[string]string{}}
		s.describe = m.Describe
		if s.run(command.Text); len(s.calls) > 0 {
			f.findings = append(f.findings, diag.Finding{
				Position: command.Position, Rule: "dead-recipe", Problem: "make never runs this call of controller-gen: the recipe belongs to .PHONY, which is directly above it",
				Fix: "move the line with .PHONY above the rule whose recipe this is",
			})
			return
		}
	}
}
