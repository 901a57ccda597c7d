package merge

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// restoreImports restores the local names of packages, and updates the imports to those that the merged code uses.
func (g *goMerge) restoreImports(root, ours, theirs *Node) {
	names := g.localNames(root)
	original := g.secondNames()
	used := map[string]bool{}
	replace := func(lines []string) []string {
		out := slices.Clone(lines)
		for i, line := range out {
			if second, ok := original[line]; ok {
				out[i] = second
			}
			for _, m := range markedPath.FindAllStringSubmatch(out[i], -1) {
				used[m[1]] = true
			}
			out[i] = markedPath.ReplaceAllStringFunc(out[i], func(m string) string { return names[m[len(openPath):len(m)-len(closePath)]] })
		}
		return out
	}
	var visit func(n *Node)
	visit = func(n *Node) {
		n.Lead, n.Head, n.Tail = replace(n.Lead), replace(n.Head), replace(n.Tail)
		for _, child := range n.Nodes {
			visit(child)
		}
	}
	visit(root)
	imports := root.child("imports")
	if imports == nil {
		return
	}
	g.mergeImports(imports, ours.child("imports"), theirs.child("imports"), used)
	for _, n := range imports.Nodes {
		if name := names[n.Key]; name != "" && g.needsName(n.Key, name) {
			n.Head = slices.Clone(n.Head)
			n.Head[0] = strings.Replace(n.Head[0], `"`, name+` "`, 1)
		}
	}
}

// secondNames returns the lines of ours, by their neutral form, that use another than the first name of a package. They
// contain the keys of imports instead of the names.
func (g *goMerge) secondNames() map[string]string {
	edits := slices.Clone(g.ours.neutral)
	for i, e := range edits {
		if e.Text != "" {
			edits[i].Text = openPath + g.ours.importKey(g.ours.imports[string(g.ours.Text[e.From:e.To])]) + closePath
		}
	}
	lines := map[string]string{}
	neutral := splitLines(textdiff.Apply(g.ours.Text, g.ours.neutral))
	for i, line := range splitLines(textdiff.Apply(g.ours.Text, edits)) {
		if line != neutral[i] {
			lines[neutral[i]] = line
		}
	}
	return lines
}

// needsName reports whether an import needs an explicit name: if it had one on the side of the name, or the name
// differs from the package's.
func (g *goMerge) needsName(key, name string) bool {
	for _, s := range []*goSource{g.ours, g.theirs} {
		if spec := s.imports[name]; spec != nil && s.importKey(spec) == key {
			return spec.Name != nil
		}
	}
	return true
}

// mergeImports adds the imports that merged code uses, and removes those that only withdrawn code used.
func (g *goMerge) mergeImports(imports, ours, theirs *Node, used map[string]bool) {
	for _, side := range []*Node{ours, theirs} {
		if side == nil {
			continue
		}
		for i, n := range side.Nodes {
			if used[n.Key] && imports.child(n.Key) == nil {
				imports.Nodes = slices.Insert(imports.Nodes, place(imports.Nodes, side.Nodes, i), cloneNode(n))
			}
		}
	}
	usedBefore := g.theirs.usedImports()
	maps.Copy(usedBefore, g.ours.usedImports())
	gap := false
	imports.Nodes = slices.DeleteFunc(imports.Nodes, func(n *Node) bool {
		if usedBefore[n.Key] && !used[n.Key] {
			gap = gap || len(n.Lead) > 0 && isBlank(n.Lead[0])
			return true
		}
		if gap && (len(n.Lead) == 0 || !isBlank(n.Lead[0])) {
			n.Lead = slices.Concat([]string{"\n"}, n.Lead)
		}
		gap = false
		return false
	})
}

// localNames returns the names for the import paths in a tree: ours, or theirs unless they conflict.
func (g *goMerge) localNames(root *Node) map[string]string {
	used := map[string]bool{}
	for _, m := range markedPath.FindAllStringSubmatch(string(root.Text()), -1) {
		used[m[1]] = true
	}
	names, taken := map[string]string{}, g.ours.declaredNames()
	for name, spec := range g.ours.imports {
		if used[gosource.ImportPath(spec)] {
			names[g.ours.importKey(spec)], taken[name] = name, true
		}
	}
	theirs := g.theirs.importNames()
	for _, path := range sortedKeys(theirs) {
		if names[path] == "" && used[path] {
			names[path] = freeName(theirs[path], path, taken)
			taken[names[path]] = true
		}
	}
	return names
}
