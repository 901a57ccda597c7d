package refactor

import (
	"fmt"
	"go/version"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Rescope turns the manager of a project, whose code was before, to one namespace, or back to the whole cluster: config, the files
// of init, and those of create api that recorded describes. What the scaffold has differently in the other
// scope is merged into each file; the places where a person edited the same lines are returned, in words.
func Rescope(tree *worktree.Tree, before *Code, config *project.Config, on bool, recorded []scaffold.Data, o Options) ([]string, error) {
	if config.Namespaced() == on {
		return nil, nil
	}
	old := initData(config, o)
	if err := old.Project.FindPaths(tree); err != nil {
		return nil, err
	}
	if on {
		if err := scaffold.CheckNamespaces(tree); err != nil {
			return nil, err
		}
	}
	program := old.Project.MainFile()
	now := old
	now.Project.Namespaced = on
	was, err := scaffold.Render("init", old)
	if err != nil {
		return nil, err
	}
	is, err := scaffold.Render("init", now)
	if err != nil {
		return nil, err
	}
	variants := map[string][]variantOf{}
	for name, content := range is.Files {
		v := variantOf{string(was.Files[name]), string(content)}
		if name == "cmd/main.go" {
			name = program
			v = v.forGo(before.m.GoVersion)
		}
		variants[name] = append(variants[name], v)
	}
	for _, data := range recorded {
		before, err := scaffold.APIFiles(tree, data)
		if err != nil {
			return nil, err
		}
		data.Project.Namespaced = on
		after, err := scaffold.APIFiles(tree, data)
		if err != nil {
			return nil, err
		}
		for name, content := range after {
			variants[name] = append(variants[name], variantOf{string(before[name]), string(content)})
		}
	}
	if on && switchVariable(tree, true) {
		for _, name := range []string{"Makefile", program, managerFile} {
			delete(variants, name)
		}
		// Those tools leave the namespace of the binding to kustomize.
		for i, v := range variants[bindingFile] {
			const name = "  name: manager-rolebinding\n"
			variants[bindingFile][i].is = strings.Replace(v.is, name+"  namespace: system\n", name, 1)
		}
	}
	var notes []string
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		note, err := rescope(tree, name, variants[name], config, on)
		if err != nil {
			return nil, err
		}
		notes = append(notes, note...)
	}
	if main, err := tree.ReadFile(program); !on && err == nil && strings.Contains(string(main), scopeVariable) {
		switchVariable(tree, false)
	}
	return notes, config.SetNamespaced(on)
}

// variantOf is a scaffolded file in the one scope and in the other.
type variantOf struct{ was, is string }

// forGo returns the variant for the Go release of a module: one before Go 1.24 has no strings.SplitSeq.
func (v variantOf) forGo(release string) variantOf {
	if version.Compare(release, "go1.24") >= 0 {
		return v
	}
	older := strings.NewReplacer("for name := range strings.SplitSeq(", "for _, name := range strings.Split(")
	return variantOf{older.Replace(v.was), older.Replace(v.is)}
}

// rescope changes one file, in the way of the variant that fits best.
func rescope(tree *worktree.Tree, name string, variants []variantOf, config *project.Config, on bool) ([]string, error) {
	variants = slices.DeleteFunc(variants, func(v variantOf) bool { return v.was == v.is })
	if len(variants) == 0 || !tree.Exists(name) {
		return nil, nil
	}
	data, err := tree.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	mine := string(data)
	generated := name == "config/rbac/role.yaml"
	var best string
	var clashes []clash
	for i, v := range variants {
		merged, left := merge(v.was, mine, v.is)
		if i == 0 || len(left) < len(clashes) {
			best, clashes = merged, left
		}
	}
	if len(clashes) > 0 && generated {
		return nil, nil // of the markers, which change too
	}
	best, clashes = scopeKinds(best, clashes)
	best, clashes = placeScope(name, best, clashes)
	if strings.HasPrefix(name, controllerDir+"/") && !strings.HasSuffix(name, "_test.go") {
		marked := scopeMarkers(mine, config.ProjectName()+"-system", on)
		// Markers that a person wrote or changed follow too.
		best = scopeMarkers(best, config.ProjectName()+"-system", on)
		clashes = slices.DeleteFunc(clashes, func(c clash) bool { return onlyMarkers(c.was) && onlyMarkers(c.is) })
		if len(clashes) > 0 {
			best = marked
		}
	}
	if strings.HasSuffix(name, "_test.go") {
		// The test of another tool need not hold what the scaffold's does.
		clashes = slices.DeleteFunc(clashes, func(c clash) bool {
			return !contains(lines(mine), c.was) || best == mine && len(c.was) == 0
		})
	}
	tree.WriteFile(name, []byte(best), 0o644)
	if path.Ext(name) == ".md" {
		return nil, nil
	}
	var notes []string
	for _, c := range clashes {
		notes = append(notes, c.describe(name))
	}
	return notes, nil
}

// scopeKinds changes the kind of a role whose rules are not the scaffold's: those of another tool, or a
// person's. That line means the same there, if it is the only one of its sort. It returns what is left.
func scopeKinds(text string, clashes []clash) (string, []clash) {
	var left []clash
	for _, c := range clashes {
		if len(c.was) != 1 || len(c.is) != 1 || !strings.HasPrefix(c.was[0], "kind: ") || times(lines(text), c.was) != 1 {
			left = append(left, c)
			continue
		}
		text = regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(c.was[0])+`(\r?)$`).ReplaceAllString(text, c.is[0]+"${1}")
	}
	return text, left
}

const rbacMarker = "+kubebuilder:rbac:"

func onlyMarkers(lines []string) bool {
	for _, line := range lines {
		if !strings.Contains(line, rbacMarker) && strings.TrimSpace(line) != "" {
			return false
		}
	}
	return true
}

// scopeMarkers gives the rbac markers of a file the manager's namespace, or takes it away. Markers of
// another namespace, and those of paths that are no resources, stay.
func scopeMarkers(text, namespace string, on bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		head, fields, ok := strings.Cut(line, rbacMarker)
		if ok && strings.HasPrefix(strings.TrimSpace(head), "//") {
			switch {
			case on && !strings.Contains(fields, "namespace=") && strings.HasPrefix(fields, "groups="):
				group, rest, more := strings.Cut(fields, ",")
				if more {
					line = head + rbacMarker + group + ",namespace=" + namespace + "," + rest
				}
			case !on:
				line = head + rbacMarker + strings.Replace(fields, "namespace="+namespace+",", "", 1)
			}
		}
		b.WriteString(line)
	}
	return b.String()
}
