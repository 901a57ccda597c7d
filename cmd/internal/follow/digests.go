package follow

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const useDigests = "use-image-digests"

// conditionVariable matches a condition on one variable, such as ifeq ($(USE_IMAGE_DIGESTS), true).
var conditionVariable = lazyregexp.New(`^\s*if(?:eq\s*\(\s*\$[({](\w+)[)}]\s*,\s*([^)]*?)\s*\)|def\s+(\w+))`)

// digestsSetAt returns where the makefiles turn on digests: the assignment of the variable that decides it, the line with the flag, or else
// the command.
func digestsSetAt(tree *worktree.Tree, command diag.Position) diag.Position {
	texts := map[string][]string{}
	names := makefiles(tree, command.File)
	for _, name := range names {
		if data, err := tree.ReadFile(name); err == nil {
			texts[name] = strings.Split(string(data), "\n")
		}
	}
	for _, name := range names {
		for i, line := range texts[name] {
			code, _, _ := strings.Cut(line, "#")
			if !strings.Contains(code, "--"+useDigests) {
				continue
			}
			at := diag.Position{File: name, Line: i + 1}
			if i == 0 {
				return at
			}
			if m := conditionVariable.FindStringSubmatch(texts[name][i-1]); m != nil {
				set, value := assignmentOf(names, texts, cmp.Or(m[1], m[3]))
				if m[1] != "" && value != m[2] {
					continue // the condition doesn't hold, unless make gets the variable from elsewhere
				}
				if set.File != "" {
					return set
				}
			}
			return at
		}
	}
	return command
}

// makefiles returns the file of a command and the other makefiles of a project.
func makefiles(tree *worktree.Tree, first string) []string {
	names := []string{first}
	all, err := tree.Walk(".", func(dir string) bool {
		return dir == "bin" || path.Base(dir) == "vendor" || strings.HasPrefix(path.Base(dir), ".") && dir != "."
	})
	if err != nil {
		return names
	}
	for _, name := range all {
		if (path.Base(name) == "Makefile" || path.Ext(name) == ".mk") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// assignmentOf returns the first assignment of a variable, and its value.
func assignmentOf(names []string, texts map[string][]string, variable string) (at diag.Position, value string) {
	assignment := regexp.MustCompile(`^\s*(?:export\s+|override\s+)?` + regexp.QuoteMeta(variable) + `\s*[?:!+]*=([^#]*)`)
	for _, name := range names {
		for i, line := range texts[name] {
			if m := assignment.FindStringSubmatch(line); m != nil {
				return diag.Position{File: name, Line: i + 1}, strings.TrimSpace(m[1])
			}
		}
	}
	return diag.Position{}, ""
}
