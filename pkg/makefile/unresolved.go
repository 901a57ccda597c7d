package makefile

import (
	"slices"
	"strconv"
	"strings"
)

// The output of a command that was not run is represented by its number between these characters, which do not occur in
// makefiles. The functions of make preserve it, so that values contain the commands that they depend on.
const (
	unresolvedStart = "\uE0F0"
	unresolvedEnd   = "\uE0F1"
)

// shell returns the output of a command, or a placeholder for it.
func (m *Makefile) shell(command string) string {
	if m.opts.Shell != nil && !strings.Contains(command, unresolvedStart) {
		if output, ok := m.opts.Shell(command); ok {
			return strings.ReplaceAll(strings.TrimRight(output, "\n"), "\n", " ")
		}
	}
	at := slices.Index(m.shells, command)
	if at < 0 {
		at, m.shells = len(m.shells), append(m.shells, command)
	}
	return unresolvedStart + strconv.Itoa(at) + unresolvedEnd
}

// IsUnresolved reports whether expanded text depends on a shell command that was not run.
func IsUnresolved(text string) bool { return strings.Contains(text, unresolvedStart) }

// Describe returns expanded text with $(shell COMMAND) for each command that was not run.
func (m *Makefile) Describe(text string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, unresolvedStart)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		number, after, _ := strings.Cut(rest, unresolvedEnd)
		if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < len(m.shells) {
			b.WriteString("$(shell " + m.Describe(m.shells[i]) + ")")
		}
		text = after
	}
}
