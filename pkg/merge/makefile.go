package merge

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// parseMakefile splits a Makefile into variables, rules with their recipes, definitions, conditionals and includes. A
// conditional is one unit with its contents. A .PHONY line belongs to the following rule that it names.
func parseMakefile(text []byte) (*Node, error) {
	p := &makefile{lines: splitLines(text)}
	root := &Node{Container: true}
	start := p.headEnd()
	if start > 0 {
		root.Nodes = []*Node{{Key: startComment, Head: p.lines[:start:start]}}
	}
	for i := start; i < len(p.lines); {
		if p.isLead(i) {
			i = p.logicalEnd(i)
			continue
		}
		end := p.unitEnd(i)
		root.Nodes = append(root.Nodes, &Node{Key: p.key(i), Lead: p.lines[start:i:i], Head: p.lines[i:end:end]})
		start, i = end, end
	}
	root.Tail = p.lines[start:]
	number(root.Nodes)
	return root, nil
}

// startComment is the key of a comment about the file.
const startComment = "comment at the start"

type makefile struct{ lines []string }

var (
	makeIf       = lazyregexp.New(`^\s*(ifeq|ifneq|ifdef|ifndef)\b`)
	makeEndif    = lazyregexp.New(`^\s*endif\b`)
	makeBranch   = lazyregexp.New(`^\s*(else|endif|ifeq|ifneq|ifdef|ifndef)\b`)
	makeDefine   = lazyregexp.New(`^\s*(?:(?:override|export)\s+)*define\s+(\S+)`)
	makeEndef    = lazyregexp.New(`^\s*endef\b`)
	makeInclude  = lazyregexp.New(`^\s*[-s]?include\s+(.*)`)
	makeVariable = lazyregexp.New(`^\s*(?:(?:override|export|private)\s+)*([^\s:#=+?!]+|\$\([^)]*\))\s*(=|\?=|:{1,3}=|\+=|!=)`)
	makeRule     = lazyregexp.New(`^([^\t#=:][^#=:]*?)\s*&?::?(?:[^=]|$)`)
)

// isBlankOrComment reports whether a line outside of recipes is blank or a comment.
func isBlankOrComment(line string) bool {
	return isBlank(line) || !strings.HasPrefix(line, "\t") && strings.HasPrefix(strings.TrimSpace(line), "#")
}

// logicalEnd returns the line after the line i and its continuation lines.
func (p *makefile) logicalEnd(i int) int {
	for ; i < len(p.lines); i++ {
		text := strings.TrimRight(p.lines[i], "\r\n")
		if backslashes := len(text) - len(strings.TrimRight(text, `\`)); backslashes%2 == 0 {
			return i + 1
		}
	}
	return len(p.lines)
}

// headEnd returns the line after the comment about the file, which a blank line separates from the rest.
func (p *makefile) headEnd() int {
	for i := 0; i < len(p.lines); i = p.logicalEnd(i) {
		if !strings.HasPrefix(p.lines[i], "#") {
			if i > 0 && isBlank(p.lines[i]) {
				return i
			}
			return 0
		}
	}
	return 0
}

// isLead reports whether the line i belongs to the unit after it.
func (p *makefile) isLead(i int) bool {
	return isBlankOrComment(p.lines[i]) || p.isPhonyOfNext(i)
}

// isPhonyOfNext reports whether the line i declares a following rule as phony.
func (p *makefile) isPhonyOfNext(i int) bool {
	names, ok := phonyNames(p.lines[i])
	if !ok {
		return false
	}
	for i = p.logicalEnd(i); i < len(p.lines); i = p.logicalEnd(i) {
		if isBlankOrComment(p.lines[i]) {
			continue
		}
		if _, ok := phonyNames(p.lines[i]); ok {
			continue
		}
		return slices.ContainsFunc(strings.Fields(ruleTargets(p.lines[i])), func(target string) bool { return slices.Contains(names, target) })
	}
	return false
}

func phonyNames(line string) ([]string, bool) {
	rest, ok := strings.CutPrefix(line, ".PHONY:")
	return strings.Fields(strings.TrimRight(rest, "\\\n")), ok
}

// ruleTargets returns the targets of a rule, or "" if a line is not the first line of a rule.
func ruleTargets(line string) string {
	if makeVariable.MatchString(line) {
		return ""
	}
	if m := makeRule.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
		return m[1]
	}
	return ""
}

// unitEnd returns the line after the unit that begins at the line i.
func (p *makefile) unitEnd(i int) int {
	switch {
	case makeIf.MatchString(p.lines[i]):
		return p.blockEnd(i, makeIf, makeEndif)
	case makeDefine.MatchString(p.lines[i]):
		return p.blockEnd(i, makeDefine, makeEndef)
	}
	end := p.logicalEnd(i)
	if ruleTargets(p.lines[i]) != "" {
		end = p.recipeEnd(end)
	}
	return end
}

// blockEnd returns the line after a block, which may contain others.
func (p *makefile) blockEnd(i int, open, close *lazyregexp.Regexp) int {
	for depth := 0; i < len(p.lines); i = p.logicalEnd(i) {
		switch {
		case open.MatchString(p.lines[i]):
			depth++
		case close.MatchString(p.lines[i]):
			if depth--; depth == 0 {
				return p.logicalEnd(i)
			}
		}
	}
	return len(p.lines)
}

// recipeEnd returns the line after a recipe that begins at the line i. Blank lines, comments and conditionals belong to
// it if there are more lines of the recipe in or after them.
func (p *makefile) recipeEnd(i int) int {
	end := i
	for i < len(p.lines) {
		switch {
		case strings.HasPrefix(p.lines[i], "\t") && !isBlank(p.lines[i]):
			i = p.logicalEnd(i)
			end = i
		case isBlankOrComment(p.lines[i]):
			i = p.logicalEnd(i)
		case makeIf.MatchString(p.lines[i]) && p.startsWithRecipe(i):
			i = p.blockEnd(i, makeIf, makeEndif)
			end = i
		default:
			return end
		}
	}
	return end
}

// startsWithRecipe reports whether the first line in a conditional is one of a recipe.
func (p *makefile) startsWithRecipe(i int) bool {
	for ; i < len(p.lines); i = p.logicalEnd(i) {
		if !makeBranch.MatchString(p.lines[i]) && !isBlankOrComment(p.lines[i]) {
			return strings.HasPrefix(p.lines[i], "\t")
		}
	}
	return false
}

// key returns the identifier of the unit that begins at the line i.
func (p *makefile) key(i int) string {
	line := p.lines[i]
	if m := makeDefine.FindStringSubmatch(line); m != nil {
		return "define " + m[1]
	}
	if m := makeInclude.FindStringSubmatch(line); m != nil {
		return "include " + strings.TrimSpace(m[1])
	}
	if m := makeVariable.FindStringSubmatch(line); m != nil && !makeIf.MatchString(line) {
		if m[2] == "+=" {
			return m[1] + " +="
		}
		return m[1]
	}
	if targets := ruleTargets(line); targets != "" && !makeIf.MatchString(line) {
		if names, ok := phonyNames(line); ok {
			return ".PHONY " + strings.Join(names, " ")
		}
		return "rule " + strings.Join(strings.Fields(targets), " ")
	}
	return strings.Join(strings.Fields(line), " ")
}
