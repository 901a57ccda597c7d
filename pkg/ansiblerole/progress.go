package ansiblerole

import (
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A progress is the state of reading the files of one kind that all parts share: how far it is, and what it has found worth noting.
type progress struct {
	budgets
	// final is true in the last pass, the only one that adds permissions and notes.
	final bool
	notes diag.Findings
	// stack are the files being read.
	stack []string
}

// maxDepth is the number of variables, files and blocks that can be nested.
const maxDepth = 60

// notef adds a note in the last pass, unless what it says may only be so because the steps are used up.
func (p *progress) notef(at diag.Position, format string, args ...any) {
	if p.final && !p.isSpent() {
		p.notes.Addf(at, format, args...)
	}
}

// enter adds a file to the stack of files that are being read. It reports whether the file is not in it already.
func (p *progress) enter(name string) bool {
	if slices.Contains(p.stack, name) || len(p.stack) > maxDepth {
		return false
	}
	p.stack = append(p.stack, name)
	return true
}

func (p *progress) leave() { p.stack = p.stack[:len(p.stack)-1] }
