package refactor

import (
	"fmt"
	"go/version"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// SetScope limits the manager of a project to one namespace, or removes the limit. code is the code of the project.
// config and the files of init and create api in commands are changed: the differences of the scaffold between the scopes
// are merged into each file. It returns the places that the user has edited.
func SetScope(
	tree *worktree.Tree, code *gosource.Module, config *project.Config, on bool, commands scaffold.Commands,
) (diag.Findings, error) {
	if config.Namespaced() == on {
		return nil, nil
	}
	old := commands.Init
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
	before, err := scaffold.Render("init", old)
	if err != nil {
		return nil, err
	}
	after, err := scaffold.Render("init", now)
	if err != nil {
		return nil, err
	}
	variants := map[string][]variant{}
	for name, content := range after.Files {
		v := variant{string(before.Files[name]), string(content)}
		if name == project.MainFile {
			name = program
			v = v.forGo(code.GoVersion)
		}
		variants[name] = append(variants[name], v)
	}
	for _, data := range commands.APIs {
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
			variants[name] = append(variants[name], variant{string(before[name]), string(content)})
		}
	}
	if on && switchVariable(tree, true) {
		for _, name := range []string{project.Makefile, program, project.ManagerFile} {
			delete(variants, name)
		}
		// Other tools leave the namespace of the binding to kustomize.
		for i, v := range variants[bindingFile] {
			const name = "  name: manager-rolebinding\n"
			variants[bindingFile][i].new = strings.Replace(v.new, name+"  namespace: system\n", name, 1)
		}
	}
	var edited diag.Findings
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		places, err := changeScope(tree, name, variants[name], config, on)
		if err != nil {
			return nil, err
		}
		edited = append(edited, places...)
	}
	if main, err := tree.ReadFile(program); !on && err == nil && strings.Contains(string(main), scopeVariable) {
		switchVariable(tree, false)
	}
	return edited, config.SetNamespaced(on)
}

// A variant is a scaffolded file in both scopes.
type variant struct{ old, new string }

// forGo returns the variant for a Go release: before Go 1.24, strings.SplitSeq does not exist.
func (v variant) forGo(release string) variant {
	if version.Compare(release, "go1.24") >= 0 {
		return v
	}
	older := strings.NewReplacer("for name := range strings.SplitSeq(", "for _, name := range strings.Split(")
	return variant{older.Replace(v.old), older.Replace(v.new)}
}

// changeScope changes one file with the best matching variant. It returns the places that the user has edited.
func changeScope(tree *worktree.Tree, name string, variants []variant, config *project.Config, on bool) (diag.Findings, error) {
	variants = slices.DeleteFunc(variants, func(v variant) bool { return v.old == v.new })
	if len(variants) == 0 || !tree.Exists(name) {
		return nil, nil
	}
	data, err := tree.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	content := string(data)
	generated := name == project.RoleFile
	var best string
	var conflicts []conflict
	for i, v := range variants {
		merged, remaining := merge(v.old, content, v.new)
		if i == 0 || len(remaining) < len(conflicts) {
			best, conflicts = merged, remaining
		}
	}
	if len(conflicts) > 0 && generated {
		return nil, nil // the markers, which are changed too
	}
	best, conflicts = changeKinds(best, conflicts)
	best, conflicts = placeChanges(name, best, conflicts)
	if strings.HasPrefix(name, project.ControllerDir+"/") && !strings.HasSuffix(name, "_test.go") {
		marked := setMarkerNamespace(content, project.ObjectNamespace(config.ProjectName()), on)
		// Markers of the user are changed too.
		best = setMarkerNamespace(best, project.ObjectNamespace(config.ProjectName()), on)
		conflicts = slices.DeleteFunc(conflicts, func(c conflict) bool { return onlyMarkers(c.old) && onlyMarkers(c.new) })
		if len(conflicts) > 0 {
			best = marked
		}
	}
	if strings.HasSuffix(name, "_test.go") {
		// Tests from other tools may differ from the scaffold's.
		conflicts = slices.DeleteFunc(conflicts, func(c conflict) bool {
			return textdiff.CountLines(lines(content), c.old) == 0 || best == content && len(c.old) == 0
		})
	}
	tree.WriteFile(name, []byte(best), 0o644)
	if path.Ext(name) == ".md" {
		return nil, nil
	}
	var edited diag.Findings
	for _, c := range conflicts {
		edited = append(edited, c.finding(name))
	}
	return edited, nil
}

// changeKinds changes the kind of a role whose other rules differ from the scaffold, if the line is unique. It returns
// the remaining conflicts.
func changeKinds(text string, conflicts []conflict) (string, []conflict) {
	var remaining []conflict
	for _, c := range conflicts {
		if len(c.old) != 1 || len(c.new) != 1 || !strings.HasPrefix(c.old[0], "kind: ") || textdiff.CountLines(lines(text), c.old) != 1 {
			remaining = append(remaining, c)
			continue
		}
		text = regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(c.old[0])+`(\r?)$`).ReplaceAllString(text, c.new[0]+"${1}")
	}
	return text, remaining
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

// setMarkerNamespace sets the namespace of the manager in the RBAC markers of a file, or removes it. Markers with
// another namespace, and those for URL paths, are kept.
func setMarkerNamespace(text, namespace string, on bool) string {
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
