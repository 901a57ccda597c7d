package calls

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/makefile"
)

// A Makefile is the makefile of a project with its included files, evaluated without starting a process.
type Makefile struct {
	*makefile.Makefile
	files Files
}

// ReadMakefile evaluates the makefile of a project. It returns nil if there is none.
func ReadMakefile(files Files) (*Makefile, error) {
	f := newFinder(files)
	m, err := f.evaluate()
	if m == nil || err != nil {
		return nil, err
	}
	return &Makefile{m, files}, f.err
}

// SimpleCommands splits a command of a recipe into simple commands, and these into words, without quotes, redirections and
// assignments before the command.
func (m *Makefile) SimpleCommands(command makefile.Command) [][]string {
	s := &shell{finder: newFinder(m.files), dir: ".", variables: map[string]string{}}
	var all [][]string
	tokens := tokenize(command.Text)
	for i := 0; i < len(tokens); i++ {
		start := i
		i = commandEnd(tokens, start)
		var fields []string
		for _, word := range withoutRedirects(tokens[start:i]) {
			if len(fields) > 0 || !assignment.MatchString(word.text) {
				fields = append(fields, s.fields(word.text)...)
			}
		}
		if len(fields) > 0 {
			all = append(all, fields)
		}
	}
	return all
}

// IsResolved reports whether a word does not depend on unknown output of a command or on an unknown variable of the shell.
func (m *Makefile) IsResolved(word string) bool {
	return !strings.Contains(word, unresolvedStart) && len(m.UnresolvedIn(word)) == 0
}
