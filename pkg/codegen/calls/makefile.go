package calls

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/makefile"
)

// A Makefile is the makefile of a project with the files that it includes, evaluated without running a process.
type Makefile struct {
	*makefile.Makefile
	files Files
}

// ReadMakefile evaluates the makefile of a project. It returns nil where there is none.
func ReadMakefile(files Files) (*Makefile, error) {
	f := newFinder(files)
	m, err := f.evaluate()
	if m == nil || err != nil {
		return nil, err
	}
	return &Makefile{m, files}, f.err
}

// SimpleCommands divides a command of a recipe into simple commands and these into words, without quotes, redirections
// and the assignments before a command.
func (m *Makefile) SimpleCommands(command makefile.Command) [][]string {
	s := &shell{finder: newFinder(m.files), dir: ".", variables: map[string]string{}}
	var all [][]string
	var words []token
	end := func() {
		var fields []string
		for _, word := range withoutRedirects(words) {
			if len(fields) > 0 || !assignment.MatchString(word.text) {
				fields = append(fields, s.fields(word.text)...)
			}
		}
		if len(fields) > 0 {
			all = append(all, fields)
		}
		words = nil
	}
	for _, t := range tokenize(command.Text) {
		if t.operator {
			end()
		} else {
			words = append(words, t)
		}
	}
	end()
	return all
}

// IsResolved reports whether a word does not depend on the output of a command, or on a variable of the shell, that is
// not known.
func (m *Makefile) IsResolved(word string) bool {
	return !strings.Contains(word, unresolvedStart) && len(m.UnresolvedIn(word)) == 0
}
