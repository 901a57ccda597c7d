package merge

import (
	"encoding/json"
	"maps"
	"path"
	"strings"
)

// A copied is one source of a COPY or ADD instruction, with the path of its copy.
type copied struct{ from, source, target string }

// withoutCopies returns a condition for new instructions of theirs: not for files that ours copies to the same place already, in whatever
// form. Where ours doesn't set the home and the working directory, theirs does once both are merged. Instructions of the base that theirs no
// longer has don't count: the merge removes them.
func withoutCopies(ours, theirs *Node, base Base, mayAdd func([]string, *Node) bool) func([]string, *Node) bool {
	return func(at []string, n *Node) bool {
		if mayAdd != nil && !mayAdd(at, n) {
			return false
		}
		if len(at) != 2 {
			return true
		}
		own, other := ours.child(at[0]), theirs.child(at[0])
		if own == nil || other == nil || !isCopy(n) {
			return true
		}
		defaults := stageEnd(other)
		has := copiesOf(own, defaults, func(o *Node) bool {
			return other.child(o.Key) != nil || !base.Has(Fact{within(at[:1], o.Key), HeadLines, significant(o.Head)})
		})
		wanted := copiesOf(other, nil, func(o *Node) bool { return o == n })
		for _, w := range wanted {
			if !w.isIn(has) {
				return true
			}
		}
		return len(wanted) == 0
	}
}

// isIn reports whether one of the copies contains this one.
func (c copied) isIn(all []copied) bool {
	for _, other := range all {
		rest, ok := below(other.source, c.source)
		if other.from == c.from && ok && c.target == path.Join(other.target, rest) {
			return true
		}
	}
	return false
}

// below returns the path of a name relative to a directory, or "" if both are the same.
func below(dir, name string) (rest string, ok bool) {
	if dir == "." {
		return name, !strings.HasPrefix(name, "..") && !path.IsAbs(name)
	}
	rest, ok = strings.CutPrefix(name+"/", dir+"/")
	return strings.TrimSuffix(rest, "/"), ok
}

func isCopy(n *Node) bool {
	name := strings.ToUpper(instructionWords(n.Head)[0])
	return name == "COPY" || name == "ADD"
}

const workDir = "WORKDIR"

// stageEnd returns the variables and the working directory at the end of a stage.
func stageEnd(stage *Node) map[string]string {
	vars := map[string]string{}
	for _, n := range stage.Nodes {
		setVars(vars, instructionWords(n.Head))
	}
	return vars
}

// setVars applies an instruction that sets variables or the working directory.
func setVars(vars map[string]string, words []string) {
	switch name := strings.ToUpper(words[0]); {
	case name == workDir && len(words) == 2:
		vars[workDir] = inDir(vars, words[1])
	case name == "ENV" && len(words) == 3 && !strings.Contains(words[1], "="):
		vars[words[1]] = unquote(expand(vars, words[2]))
	case name == "ENV" || name == "ARG":
		for _, word := range words[1:] {
			if key, value, ok := strings.Cut(word, "="); ok {
				vars[key] = unquote(expand(vars, value))
			}
		}
	}
}

func unquote(text string) string { return strings.Trim(text, `"'`) }

// expand replaces the variables that are known.
func expand(vars map[string]string, text string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "$")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		name, after := rest, ""
		if inner, ok := strings.CutPrefix(rest, "{"); ok {
			name, after, _ = strings.Cut(inner, "}")
		} else {
			end := len(rest) - len(strings.TrimLeft(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"))
			name, after = rest[:end], rest[end:]
		}
		if value, ok := vars[name]; ok {
			out.WriteString(value)
		} else {
			out.WriteString("${" + name + "}")
		}
		text = after
	}
}

// inDir returns a path in the working directory, which is an unknown one if no instruction has set it.
func inDir(vars map[string]string, name string) string {
	name = unquote(expand(vars, name))
	if path.IsAbs(name) || strings.HasPrefix(name, "${") {
		return path.Clean(name)
	}
	dir := vars[workDir]
	if dir == "" {
		dir = "."
	}
	return path.Join(dir, name)
}

// copiesOf returns what some instructions of a stage copy. defaults hold for variables that the stage doesn't set.
func copiesOf(stage *Node, defaults map[string]string, counts func(*Node) bool) []copied {
	vars := maps.Clone(defaults)
	if vars == nil {
		vars = map[string]string{}
	}
	var all []copied
	for _, n := range stage.Nodes {
		words := instructionWords(n.Head)
		setVars(vars, words)
		if isCopy(n) && counts(n) {
			all = append(all, copies(words[1:], vars)...)
		}
	}
	return all
}

// isFileName reports whether a name looks like a file rather than a directory.
func isFileName(name string) bool {
	base := path.Base(name)
	return !strings.HasSuffix(name, "/") && strings.Contains(strings.TrimLeft(base, "."), ".") && !strings.ContainsAny(base, "*?[")
}

// copies returns the copies of the arguments of one instruction. Here documents have no source.
func copies(words []string, vars map[string]string) []copied {
	from := ""
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		if stage, ok := strings.CutPrefix(words[0], "--from="); ok {
			from = stage
		}
		words = words[1:]
	}
	if len(words) > 0 && strings.HasPrefix(words[0], "[") {
		var list []string
		if json.Unmarshal([]byte(strings.Join(words, " ")), &list) != nil {
			return nil
		}
		words = list
	}
	if len(words) < 2 {
		return nil
	}
	last := len(words) - 1
	target := inDir(vars, words[last])
	isDir := last > 1 || strings.HasSuffix(words[last], "/") || words[last] == "." || words[last] == ".." || target == vars[workDir]
	var all []copied
	for _, source := range words[:last] {
		if strings.HasPrefix(source, "<<") {
			continue
		}
		name := path.Clean(expand(vars, source))
		if from == "" && name != ".." {
			name = strings.TrimPrefix(name, "/")
			if name == "" {
				name = "."
			}
		}
		to := target
		if isDir && (from != "" || isFileName(source)) { // of a directory, only the content is copied
			to = path.Join(target, path.Base(name))
		}
		all = append(all, copied{from, name, to})
	}
	return all
}
