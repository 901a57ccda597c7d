package merge

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// mergeMakefile merges two Makefiles like mergeNodes. Edited units are kept. Units that theirs no longer has are kept if the
// user's rules refer to them, and so are those that theirs changed in a way that the user's rules could not use.
func mergeMakefile(ours, theirs *Node, base Base, o Options) *Result {
	keep, files := map[string]bool{}, map[string]bool{}
	base = keepBase{makefileBase{base, theirs}, theirs, keep}
	options := o
	options.IsChoice = func(_, _ *Node) bool { return true }
	options.MayRemove = func(path []string, n *Node) bool {
		return !keep[n.Key] && (o.MayRemove == nil || o.MayRemove(path, n))
	}
	for {
		r := mergeNodes(ours, theirs, base, options)
		maps.Copy(files, wordVariables(r.Root, theirs))
		found := false
		for _, n := range ours.Nodes {
			if !keep[n.Key] && (r.Root.child(n.Key) == nil && isReferred(n, r.Root) || files[n.Key] || hasAny(ruleFiles(n), files)) {
				keep[n.Key], found = true, true
			}
		}
		if !found {
			r.Root = withSections(headFirst(r.Root), ours, theirs)
			return r
		}
	}
}

// hasAny reports whether two sets have an element in common.
func hasAny(a, b map[string]bool) bool {
	for name := range a {
		if b[name] {
			return true
		}
	}
	return false
}

// A keepBase is a base in which units of ours to keep count as edited.
type keepBase struct {
	Base
	theirs *Node
	keep   map[string]bool
}

func (b keepBase) Has(f Fact) bool {
	if f.Part == HeadLines && len(f.Path) == 1 && b.keep[f.Path[0]] {
		n := find(b.theirs, f.Path)
		return n != nil && slices.Equal(f.Lines, significant(n.Head))
	}
	return b.Base.Has(f)
}

// headFirst returns a tree with the comment about the file before all units.
func headFirst(root *Node) *Node {
	i := slices.IndexFunc(root.Nodes, func(n *Node) bool { return n.Key == startComment })
	if i <= 0 {
		return root
	}
	out := *root
	out.Nodes = slices.Insert(slices.Delete(slices.Clone(root.Nodes), i, i+1), 0, root.Nodes[i])
	return &out
}

// withSections returns a tree with the headings of both ours and theirs, also if the user removed the first unit of a
// section.
func withSections(root, ours, theirs *Node) *Node {
	out := *root
	out.Nodes = slices.Clone(root.Nodes)
	lost := ""
	for _, t := range theirs.Nodes {
		if i := slices.IndexFunc(t.Lead, isSection); i >= 0 {
			lost = t.Lead[i]
			if !slices.Contains(ours.Lines(), lost) || slices.Contains(out.Lines(), lost) {
				lost = ""
			}
		}
		at := slices.IndexFunc(out.Nodes, func(n *Node) bool { return n.Key == t.Key })
		if lost == "" || at < 0 {
			continue
		}
		n := *out.Nodes[at]
		n.Lead = append([]string{"\n", lost}, n.Lead...)
		out.Nodes[at], lost = &n, ""
	}
	return &out
}

// isSection reports whether a line is the heading of a section in the output of make help.
func isSection(line string) bool { return strings.HasPrefix(line, "##@ ") }

// plainLines are the lines of a unit without the help of a rule and without quotes, and with references in parentheses.
const plainLines Part = "~"

// makefileFacts adds the facts about plain lines if they differ.
func makefileFacts(facts []Fact) []Fact {
	var out []Fact
	for _, f := range facts {
		out = append(out, f)
		if plain := plainMake(f); f.Part == HeadLines && !slices.Equal(plain.Lines, f.Lines) {
			out = append(out, plain)
		}
	}
	return out
}

func plainMake(f Fact) Fact {
	f.Part, f.Lines = plainLines, slices.Clone(f.Lines)
	for i, line := range f.Lines {
		if i == 0 && ruleTargets(line) != "" {
			line, _, _ = strings.Cut(line, "##")
			line = strings.TrimSpace(line)
		}
		line = makeBraces.ReplaceAllString(line, "$$($1)")
		f.Lines[i] = makeQuoted.ReplaceAllString(line, "$$($1)")
	}
	return f
}

// makefileBase is a base that ignores differences in notation.
type makefileBase struct {
	Base
	theirs *Node
}

func (b makefileBase) Has(f Fact) bool {
	if b.Base.Has(f) {
		return true
	}
	n := find(b.theirs, f.Path)
	if f.Part != HeadLines || n == nil || !slices.Equal(f.Lines, significant(n.Head)) {
		return false
	}
	plain := plainMake(f)
	return b.Base.Has(plain) || b.Base.Has(Fact{f.Path, HeadLines, plain.Lines})
}

var (
	makeBraces    = lazyregexp.New(`\$\{(\w+)\}`)
	makeReference = lazyregexp.New(`\$[({]\s*(?:(?:call|value|origin|flavor)\s+)?([\w.-]+)`)
	makeSubmake   = lazyregexp.New(`\$[({]MAKE[)}]((?:\s+[\w./=-]+)+)`)
	makeWord      = lazyregexp.New(`\$[({](\w+)[)}]`)
	makeQuoted    = lazyregexp.New(`"\$[({](\w+)[)}]"`)
)

// isReferred reports whether a tree refers to a variable or rule that it does not contain and that a unit defines.
func isReferred(n, root *Node) bool {
	names := makeNames(n)
	has, refers := map[string]bool{}, map[string]bool{}
	for _, other := range root.Nodes {
		for name := range makeNames(other) {
			has[name] = true
		}
		for name := range makeReferences(other) {
			refers[name] = true
		}
	}
	for name := range names {
		if refers[name] && !has[name] {
			return true
		}
	}
	return false
}

// makeNames returns the variables, as in $(NAME), and the targets that a unit defines.
func makeNames(n *Node) map[string]bool {
	names := map[string]bool{}
	for _, line := range n.Head {
		if m := makeDefine.FindStringSubmatch(line); m != nil {
			names["$"+m[1]] = true
		} else if m := makeVariable.FindStringSubmatch(line); m != nil {
			names["$"+m[1]] = true
		} else {
			for target := range strings.FieldsSeq(ruleTargets(line)) {
				names[target] = true
			}
		}
	}
	return names
}

// makeReferences returns the variables and targets that a unit refers to.
func makeReferences(n *Node) map[string]bool {
	names := map[string]bool{}
	for _, line := range n.Head {
		for _, m := range makeReference.FindAllStringSubmatch(line, -1) {
			names["$"+m[1]] = true
		}
		for _, m := range makeSubmake.FindAllStringSubmatch(line, -1) {
			for target := range strings.FieldsSeq(m[1]) {
				names[target] = true
			}
		}
		if ruleTargets(line) != "" {
			_, after, _ := strings.Cut(line, ":")
			after, _, _ = strings.Cut(after, "#")
			for target := range strings.FieldsSeq(strings.TrimSuffix(strings.TrimRight(after, "\n"), `\`)) {
				names[target] = true
			}
		}
	}
	return names
}

// wordVariables returns the variables with several words in theirs that a unit of a merged tree, but not of theirs,
// uses as a single word: in quotes, or as a target or prerequisite.
func wordVariables(root, theirs *Node) map[string]bool {
	commands := map[string]bool{}
	for _, n := range theirs.Nodes {
		for _, line := range n.Head {
			if m := makeVariable.FindStringSubmatch(line); m != nil && len(strings.Fields(line[strings.IndexByte(line, '=')+1:])) > 1 {
				commands[m[1]] = true
			}
		}
	}
	words := map[string]bool{}
	for _, n := range root.Nodes {
		if t := theirs.child(n.Key); t != nil && equalLines(n.Head, t.Head) {
			continue
		}
		for _, line := range n.Head {
			for _, m := range makeQuoted.FindAllStringSubmatch(line, -1) {
				if commands[m[1]] {
					words[m[1]] = true
				}
			}
		}
		for name := range ruleFiles(n) {
			if commands[name] {
				words[name] = true
			}
		}
	}
	return words
}

// ruleFiles returns the variables that are targets or prerequisites of a rule.
func ruleFiles(n *Node) map[string]bool {
	names := map[string]bool{}
	if len(n.Head) == 0 || ruleTargets(n.Head[0]) == "" {
		return names
	}
	rule, _, _ := strings.Cut(n.Head[0], "#")
	for _, m := range makeWord.FindAllStringSubmatch(rule, -1) {
		names[m[1]] = true
	}
	return names
}
