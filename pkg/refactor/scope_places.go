package refactor

import (
	"go/format"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const bindingFile = project.RBACDir + "/role_binding.yaml"

// placeChanges applies conflicting changes to a file of another tool, in which the adjacent lines differ: it finds
// their places by the meaning of the code. It returns the remaining conflicts.
func placeChanges(name, text string, conflicts []conflict) (string, []conflict) {
	var insert func(text string, lines []string) (string, bool)
	remove := cutBlock
	switch {
	case path.Base(name) == "Makefile":
		insert = insertVariable
	case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
		insert, remove = insertGo, cutGo
	case name == project.ManagerFile:
		insert = insertEnv
	default:
		return text, conflicts
	}
	formatted, crlf := gosource.IsFormatted([]byte(text)), isCRLF(text)
	var remaining []conflict
	// Imports come last here, because removing them depends on the other changes.
	for _, c := range slices.Backward(conflicts) {
		placed, ok := text, false
		switch {
		case len(c.old) == 0:
			placed, ok = insert(text, c.new)
		case len(c.new) == 0:
			placed, ok = remove(text, c.old)
		case len(c.old) == 1 && len(c.new) == 1:
			placed, ok = changeCommand(text, c.old[0], c.new[0])
		}
		if !ok {
			remaining = append([]conflict{c}, remaining...)
			continue
		}
		text = placed
	}
	if name == project.ManagerFile {
		text = string(scaffold.WithoutEmptyEnv([]byte(text)))
	}
	if source, err := format.Source([]byte(text)); formatted && err == nil {
		text = string(source)
	}
	if crlf {
		text = joinLines(lines(text), true)
	}
	return text, remaining
}

// singleSpaced returns a line with single spaces: gofmt aligns values, and YAML lists have several styles of indentation.
func singleSpaced(line string) string { return strings.Join(strings.Fields(line), " ") }

// findBlock finds the only occurrence of the lines of a block regardless of white space, with the blank lines around it.
func findBlock(all, block []string) (from, to int, ok bool) {
	want := strings.Split(strings.TrimSpace(strings.Join(mapped(block, singleSpaced), "\n")), "\n")
	found := 0
	for i := 0; i+len(want) <= len(all); i++ {
		if slices.Equal(mapped(all[i:i+len(want)], singleSpaced), want) {
			from, to = i, i+len(want)
			found++
		}
	}
	return from, to, found == 1
}

func mapped(lines []string, change func(string) string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = change(line)
	}
	return out
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// cutBlock removes a block of lines, and the blank line after it if another one precedes it.
func cutBlock(text string, block []string) (string, bool) {
	all := lines(text)
	from, to, ok := findBlock(all, block)
	if !ok {
		return text, false
	}
	if to < len(all)-1 && isBlank(all[to]) && (isBlank(block[len(block)-1]) || from > 0 && isBlank(all[from-1])) {
		to++
	}
	return strings.Join(slices.Delete(all, from, to), "\n"), true
}

func insertLines(text string, at int, block []string) string {
	return strings.Join(slices.Insert(lines(text), at, block...), "\n")
}

// changeCommand replaces the prefix of a command in a recipe that runs a program, such as "go run ./cmd/main.go".
func changeCommand(text, before, after string) (string, bool) {
	const run = "go run "
	oldPrefix, _, ok := strings.Cut(before, run)
	newPrefix, _, _ := strings.Cut(after, run)
	all := lines(text)
	if !ok || slices.ContainsFunc(all, func(line string) bool { return strings.HasPrefix(line, newPrefix+run) }) {
		return text, ok
	}
	at := slices.IndexFunc(all, func(line string) bool { return strings.HasPrefix(line, oldPrefix+run) })
	if at < 0 {
		return text, false
	}
	all[at] = newPrefix + strings.TrimPrefix(all[at], oldPrefix)
	return strings.Join(all, "\n"), true
}

// insertVariable inserts a variable of a makefile before the target run, which uses it.
func insertVariable(text string, block []string) (string, bool) {
	all := lines(text)
	at := slices.IndexFunc(all, func(line string) bool { return strings.HasPrefix(line, "run:") })
	if at < 0 {
		return text, false
	}
	for at > 0 && (strings.HasPrefix(all[at-1], "#") || strings.HasPrefix(all[at-1], ".PHONY:")) {
		at--
	}
	return insertLines(text, at, append(slices.Clone(block), "")), true
}

// insertEnv adds variables to the container manager of the only Deployment of a manifest.
func insertEnv(text string, block []string) (string, bool) {
	container := managerContainer(text)
	if container == nil {
		return text, false
	}
	indent, at := container.Column-1, 0
	if env := safeyaml.Child(container, "env"); env == nil {
		at = safeyaml.Child(container, "name").Line
		block = append([]string{"env:"}, outdent(block)...)
	} else {
		if env.Kind != yaml.SequenceNode || env.Style&yaml.FlowStyle != 0 || len(env.Content) == 0 {
			return text, false
		}
		// The line of the list precedes its first item and the comments there.
		for at = env.Line - 1; singleSpaced(lines(text)[at-1]) != "env:"; at-- {
			if !strings.HasPrefix(singleSpaced(lines(text)[at-1]), "#") {
				return text, false
			}
		}
		indent = env.Column - 1
		block = outdent(block)
	}
	return insertLines(text, at, mapped(block, func(line string) string { return strings.Repeat(" ", indent) + line })), true
}

// scopeVariable is the environment variable with the namespaces that the manager watches.
const scopeVariable = "WATCH_NAMESPACE"

// switchVariable sets the variable with the namespaces to watch to the manager's namespace, or to none, which means all
// namespaces, for programs of other tools that read it in both scopes. It reports whether it changed the variable.
func switchVariable(tree *worktree.Tree, on bool) bool {
	data, err := tree.ReadFile(project.ManagerFile)
	if err != nil {
		return false
	}
	name := "- name: " + scopeVariable
	none := []string{`value: ""`}
	reference := []string{"valueFrom:", "  fieldRef:", "    fieldPath: metadata.namespace"}
	before, after := reference, none
	if on {
		before, after = none, reference
	}
	all := strings.Split(string(data), "\n")
	from, to, ok := findBlock(all, append([]string{name}, before...))
	if !ok {
		return false
	}
	indent, _, _ := strings.Cut(all[from+1], strings.TrimSpace(before[0]))
	end := all[to-1][len(strings.TrimRight(all[to-1], "\r")):]
	all = slices.Replace(all, from+1, to, mapped(after, func(line string) string { return indent + line + end })...)
	tree.WriteFile(project.ManagerFile, []byte(strings.Join(all, "\n")), 0o644)
	return true
}

// managerContainer returns the container manager of the only Deployment of a manifest, or nil.
func managerContainer(text string) *yaml.Node {
	var found *yaml.Node
	docs, _ := safeyaml.Documents[yaml.Node]([]byte(text))
	for _, doc := range docs {
		if len(doc.Content) == 0 {
			continue
		}
		containers := safeyaml.Child(doc.Content[0], "spec", "template", "spec", "containers")
		if containers == nil || safeyaml.ChildText(doc.Content[0], "kind") != "Deployment" {
			continue
		}
		for _, c := range containers.Content {
			if safeyaml.ChildText(c, "name") == "manager" {
				if found != nil {
					return nil
				}
				found = c
			}
		}
	}
	return found
}

// outdent removes the indentation of the first line from all lines of a block.
func outdent(block []string) []string {
	indent := block[0][:len(block[0])-len(strings.TrimLeft(block[0], " "))]
	return mapped(block, func(line string) string { return strings.TrimPrefix(line, indent) })
}
