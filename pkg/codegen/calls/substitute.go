package calls

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
)

// Characters around the text of a command with unknown output. They do not occur in scripts.
const (
	unresolvedStart = "\uE0F2"
	unresolvedEnd   = "\uE0F3"
	// unresolvedSpace replaces white space in that text, so that it remains one word.
	unresolvedSpace = "\uE0F4"
)

// unresolved returns the placeholder of the output of a command.
func unresolved(command string) string {
	return unresolvedStart + strings.Join(strings.Fields(command), unresolvedSpace) + unresolvedEnd
}

// substitute returns the output of commands about directories and the year, or a placeholder.
func (s *shell) substitute(script string) string {
	inner := &shell{finder: newFinder(s.files), dir: s.dir, variables: s.variables, arguments: s.arguments, bash: s.bash}
	var output string
	known := false
	tokens := tokenize(strings.TrimSpace(script))
	for i := 0; i < len(tokens); {
		if tokens[i].operator {
			if tokens[i].text == "||" && known {
				break
			}
			i++
			continue
		}
		end := commandEnd(tokens, i)
		var words []string
		for _, word := range withoutRedirects(tokens[i:end]) {
			words = append(words, inner.fields(word.text)...)
		}
		i = end
		text, ok := inner.outputOf(words)
		if !ok {
			return unresolved(script)
		}
		if text != "" {
			output, known = text, true
		}
	}
	if !known {
		return unresolved(script)
	}
	return output
}

// outputOf returns the output of a command, and whether it is known.
func (s *shell) outputOf(words []string) (string, bool) {
	if len(words) == 0 {
		return "", true
	}
	words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "--" })
	last := words[len(words)-1]
	switch text := strings.Join(words, " "); {
	case strings.Contains(text, unresolvedStart):
	case words[0] == "cd":
		s.dir = s.relative(last)
		return "", true
	case words[0] == "cat" && len(words) == 2:
		data, err := s.files.ReadFile(s.relative(last))
		return strings.TrimSpace(string(data)), err == nil
	case words[0] == "pwd":
		return path.Join(s.root, s.dir), true
	case words[0] == "dirname" && len(words) > 1:
		return path.Dir(last), true
	case (words[0] == "realpath" || words[0] == "readlink") && len(words) > 1:
		return path.Join(s.root, s.relative(last)), true
	case words[0] == "echo" && len(words) > 1:
		return strings.Join(words[1:], " "), true
	case text == "git rev-parse --show-toplevel":
		return s.root, s.read(".git/HEAD") != nil
	case text == "date +%Y", text == "date -u +%Y":
		return codegen.CurrentYear, true
	}
	return "", false
}
