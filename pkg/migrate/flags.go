package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// renamedFlag matches an argument with a flag of the manager that kubebuilder v3 renamed, after its hyphens.
var renamedFlag = lazyregexp.New(`(?m)^(\s*- ["']?--)(metrics-addr|enable-leader-election)\b`)

// renameFlags replaces renamed flags in the arguments of manifests, which the user wrote or which are in kept files, if
// the program has them only under their new names.
func (u *upgrader) renameFlags() error {
	program, err := u.tree.ReadFile(project.MainFile)
	if err != nil && !u.usesRuntime() {
		return nil // the flags, if any, are in another file
	}
	manifests, err := readConfig(u.tree, isManifest)
	if err != nil {
		return err
	}
	for _, manifest := range manifests {
		name, text := manifest.name, manifest.text
		renamed := renamedFlag.ReplaceAllFunc(text, func(arg []byte) []byte {
			at := bytes.LastIndex(arg, []byte("--")) + len("--")
			old := string(arg[at:])
			current := map[string]string{"metrics-addr": "metrics-bind-address", "enable-leader-election": "leader-elect"}[old]
			if !u.usesRuntime() && (hasFlag(string(program), old) || !hasFlag(string(program), current)) {
				return arg
			}
			return append(slices.Clone(arg[:at]), current...)
		})
		if bytes.Equal(renamed, text) {
			continue
		}
		u.tree.WriteFile(name, renamed, 0o644)
		i := slices.IndexFunc(u.result.Files, func(f File) bool { return f.Name == name })
		switch {
		case i < 0:
			u.ours[name] = text
			u.add(name, Merged, "")
		case u.result.Files[i].State == Kept:
			u.result.Files[i] = File{Name: name, State: Merged}
		}
	}
	return nil
}

// undefinedFlag returns a flag that the second stream of objects passes to the manager, that no Go file of the project
// has, and that is new there or was in a Go file before the upgrade. It returns "" if there is none.
func undefinedFlag(tree *worktree.Tree, changes []worktree.Change, oldText, newText []byte) (string, error) {
	old := managerFlags(oldText)
	var suspects []string
	for _, flag := range managerFlags(newText) {
		removed := func(c worktree.Change) bool {
			name := strings.TrimPrefix(flag, "--")
			return path.Ext(c.Path) == ".go" && hasFlag(string(c.Old), name) && !hasFlag(string(c.New), name)
		}
		if !slices.Contains(old, flag) || slices.ContainsFunc(changes, removed) {
			suspects = append(suspects, flag)
		}
	}
	if len(suspects) == 0 {
		return "", nil
	}
	names, err := tree.Walk(".", func(name string) bool { return name == "vendor" || strings.HasPrefix(path.Base(name), ".") })
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if path.Ext(name) != ".go" {
			continue
		}
		text, err := tree.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", name, err)
		}
		suspects = slices.DeleteFunc(suspects, func(flag string) bool { return hasFlag(string(text), strings.TrimPrefix(flag, "--")) })
	}
	if len(suspects) == 0 {
		return "", nil
	}
	return suspects[0], nil
}

// hasFlag reports whether Go code has the name of a flag in quotes, or the end of the name from a hyphen on, as in
// server+"-cert-path".
func hasFlag(code, name string) bool {
	if strings.Contains(code, strconv.Quote(name)) {
		return true
	}
	for i, r := range name {
		if r == '-' && strings.Contains(code, strconv.Quote(name[i:])) {
			return true
		}
	}
	return false
}

// managerFlags returns the names of the flags of all containers called manager in a stream of objects.
func managerFlags(stream []byte) []string {
	var flags []string
	for decoder := safeyaml.NewDecoder(stream); ; {
		var workload struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Name string
							Args []string
						}
					}
				}
			}
		}
		err := decoder.Decode(&workload)
		if _, ok := errors.AsType[*yaml.TypeError](err); ok {
			continue // an object with other types, and no containers
		}
		if err != nil {
			return flags
		}
		for _, container := range workload.Spec.Template.Spec.Containers {
			for _, arg := range container.Args {
				if flag, _, _ := strings.Cut(arg, "="); container.Name == "manager" && strings.HasPrefix(flag, "--") {
					flags = append(flags, flag)
				}
			}
		}
	}
}
