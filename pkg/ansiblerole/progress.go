package ansiblerole

import (
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A progress is the state of reading the files of one kind that all parts share: how far it is, and what it has found worth noting.
type progress struct {
	// final is true in the last pass, the only one that adds permissions and notes.
	final bool
	notes diag.Findings
	// steps counts the evaluations of a pass. stack are the files being read.
	steps int
	stack []string
}

// maxSteps is the number of evaluations of one analysis. Everything beyond them is unknown, which is noted.
const maxSteps = 3_000_000

// maxDepth is the number of variables, files and blocks that can be nested.
const maxDepth = 60

// spend reports whether the analysis has used up its steps.
func (p *progress) spend(steps int) bool {
	p.steps += steps
	return p.steps > maxSteps
}

// notef adds a note in the last pass.
func (p *progress) notef(at diag.Position, format string, args ...any) {
	if p.final {
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
