package migrate

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Loss is something that a kustomization built before an upgrade, and does not build after it.
type Loss struct {
	// Kustomization is its directory.
	Kustomization string
	// Object is kind and name of an object. Fields are paths in it; empty if all of the object is gone.
	Object string
	Fields []string
}

func (l Loss) String() string { return l.text("no longer has") }

func (l Loss) text(verb string) string {
	if len(l.Fields) == 0 {
		return fmt.Sprintf("%s %s %s", l.Kustomization, verb, l.Object)
	}
	return fmt.Sprintf("%s: %s %s %s", l.Kustomization, l.Object, verb, strings.Join(l.Fields, ", "))
}

// kustomizationError is what is wrong with a kustomization after an upgrade.
type kustomizationError struct {
	// dir is its directory.
	dir string
	err error
}

func (e *kustomizationError) Error() string { return e.err.Error() }
func (e *kustomizationError) Unwrap() error { return e.err }

// Verifier compares what the kustomizations of a project build before an upgrade and after it.
type Verifier struct {
	before *worktree.Tree
	// built holds what kustomizations build before the upgrade, by directory, as far as they were compared.
	built map[string]buildResult
	// base returns what the release that scaffolded the project states in a file. It is nil if all losses are meant.
	base func(name string) merge.Base
	// read holds the objects in the manifests before the upgrade, once they are read.
	read []source
}

// buildResult is a stream of objects, or the error that there is none.
type buildResult struct {
	stream []byte
	err    error
}

// NewVerifier returns a Verifier for a project as it is on disk.
func NewVerifier(before *worktree.Tree) *Verifier {
	return &Verifier{before: before, built: map[string]buildResult{}}
}

// buildBefore builds the kustomization in a directory as it is before the upgrade, once. old holds kustomizations without
// deprecated fields.
func (v *Verifier) buildBefore(dir string, old map[string][]byte) ([]byte, error) {
	b, ok := v.built[dir]
	if !ok {
		b.stream, b.err = manifest.BuildOver(v.before.Root(), dir, old)
		v.built[dir] = b
	}
	return b.stream, b.err
}

// Verify lists what the kustomizations no longer build after an upgrade, whose changes are in a tree. It is an error if a
// kustomization that was built before cannot be built, no longer has a file that the upgrade did not remove, or loses what the
// user wrote. Of files with conflicts, resolved holds the texts that resolve them.
func (v *Verifier) Verify(after *worktree.Tree, resolved map[string][]byte) ([]Loss, error) {
	changes, err := after.Changes()
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	before := v.before
	names, err := before.Walk("config", nil)
	if err != nil {
		return nil, err
	}
	over := after.Overlay()
	for _, name := range after.Removed() {
		over[name] = nil
	}
	maps.Copy(over, resolved)
	old := map[string][]byte{} // kustomizations without deprecated fields
	for _, name := range names {
		if path.Base(name) != "kustomization.yaml" {
			continue
		}
		text, err := before.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if current, ok := replaceDeprecated(text); ok {
			old[name] = current
		}
		if text, ok := over[name]; !ok {
			if current, ok := old[name]; ok {
				over[name] = current
			}
		} else if current, ok := replaceDeprecated(text); ok {
			over[name] = current
		}
	}
	named := map[string]bool{} // kustomizations that others contain
	var roots []string
	for _, name := range names {
		if path.Base(name) == "kustomization.yaml" && after.Exists(name) {
			roots = append(roots, name)
		}
	}
	for _, name := range roots {
		was, is, err := references(before, after, resolved, name)
		if err != nil {
			return nil, err
		}
		for _, file := range was {
			if before.Exists(file + "/kustomization.yaml") {
				named[file] = true
			}
			if !slices.Contains(is, file) && after.Exists(file) && unchanged(before, after, file) {
				return nil, &kustomizationError{path.Dir(name), fmt.Errorf("%s would no longer name %s", name, file)}
			}
		}
	}
	var losses []Loss
	for _, name := range roots {
		dir := path.Dir(name)
		was, err := v.buildBefore(dir, old)
		if err != nil {
			continue // it did not build before
		}
		is, err := manifest.BuildOver(before.Root(), dir, over)
		if err != nil {
			return nil, &kustomizationError{dir, fmt.Errorf("%s would not build: %w", dir, errors.Unwrap(err))}
		}
		flag, err := undefinedFlag(after, changes, was, is)
		if err != nil {
			return nil, err
		}
		if flag != "" {
			return nil, &kustomizationError{dir, fmt.Errorf("%s would start the manager with %s, which the project does not define", dir, flag)}
		}
		webhook, err := lostWebhook(after, was, is)
		if err != nil {
			return nil, err
		}
		if webhook != "" {
			return nil, &kustomizationError{dir, fmt.Errorf("%s would no longer have webhook %s, which a patch would remove by its position", dir, webhook)}
		}
		if named[dir] {
			continue
		}
		lost, err := v.compare(after, dir, was, is)
		if err != nil {
			return nil, err
		}
		losses = append(losses, lost...)
	}
	return losses, nil
}

// references returns the files and directories that a kustomization names before and after.
func references(before, after *worktree.Tree, resolved map[string][]byte, name string) (was, is []string, err error) {
	old, err := before.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", name, err)
	}
	text, ok := resolved[name]
	if !ok {
		if text, err = after.ReadFile(name); err != nil {
			return nil, nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return named(name, old, false), named(name, text, true), nil
}

// named returns the files and directories that a kustomization names, also those that are switched off if options is true:
// what a project needs no longer is switched off when its webhooks move.
func named(name string, text []byte, options bool) []string {
	root, err := merge.Parse(name, text)
	if err != nil {
		return nil
	}
	var all []string
	for _, document := range root.Nodes {
		for _, field := range document.Nodes {
			switch field.Key {
			case "resources", "components", "patches", "configurations", "crds", "generators", "transformers":
				for _, entry := range field.Nodes {
					on := *entry
					on.Off = entry.Off && !options
					if file := entryPath(path.Dir(name), &on); file != "" {
						all = append(all, file)
					}
				}
			}
		}
	}
	return all
}

// unchanged reports whether an upgrade leaves a file as it is.
func unchanged(before, after *worktree.Tree, name string) bool {
	a, err := before.ReadFile(name)
	if err != nil {
		return false
	}
	b, err := after.ReadFile(name)
	return err == nil && string(a) == string(b)
}

// compare lists what one stream of objects has and another has not. It is an error if the user wrote that.
func (v *Verifier) compare(after *worktree.Tree, dir string, was, is []byte) ([]Loss, error) {
	old, current := objects(was), objects(is)
	var losses []Loss
	for _, id := range slices.Sorted(maps.Keys(old)) {
		other, ok := current[id]
		lost := [][]step{nil}
		if ok {
			lost = lostFields(nil, old[id], other)
		}
		loss := Loss{Kustomization: dir, Object: id}
		for _, at := range lost {
			one := Loss{Kustomization: dir, Object: id}
			if len(at) > 0 {
				one.Fields = []string{pathText(at)}
			}
			if file, err := v.editedSource(after, id, at); err != nil {
				return nil, err
			} else if file != "" {
				return nil, &kustomizationError{path.Dir(file), fmt.Errorf("%s, which is in %s", one.text("would no longer have"), file)}
			}
			loss.Fields = append(loss.Fields, one.Fields...)
		}
		if len(lost) > 0 {
			losses = append(losses, loss)
		}
	}
	return losses, nil
}

// objects returns the objects of a stream by kind and name.
func objects(stream []byte) map[string]any {
	all := map[string]any{}
	decoder := safeyaml.NewDecoder(stream)
	for {
		var object map[string]any
		if decoder.Decode(&object) != nil {
			return all
		}
		metadata, _ := object["metadata"].(map[string]any)
		all[fmt.Sprintf("%v %v", object["kind"], metadata["name"])] = object
	}
}

// step is a step of a path in an object: a field, or an item of a list, by its name and index.
type step struct {
	name  string
	item  bool
	index int
	// text is printed for an item instead of its name, unless it is empty.
	text string
}

// pathText returns a path as it is printed.
func pathText(path []step) string {
	var b strings.Builder
	for i, s := range path {
		switch {
		case s.text != "":
			b.WriteString("[" + s.text + "]")
		case s.item && strings.HasPrefix(s.name, "map["):
			fmt.Fprintf(&b, "[%d]", s.index)
		case s.item:
			b.WriteString("[" + s.name + "]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// lostFields lists the paths of fields and list items that a value had. Fields whose value changed are not lost.
func lostFields(at []step, was, is any) [][]step {
	var lost [][]step
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok {
			return [][]step{at}
		}
		for _, key := range slices.Sorted(maps.Keys(was)) {
			field := append(slices.Clip(at), step{name: key})
			if value, ok := is[key]; ok && len(at) == 0 && key == "rules" && isRole(was) {
				lost = append(lost, lostPermissions(field, was[key], value)...)
			} else if ok {
				lost = append(lost, lostFields(field, was[key], value)...)
			} else {
				lost = append(lost, field)
			}
		}
	case []any:
		is, _ := is.([]any)
		for n, value := range was {
			name := itemName(value)
			item := append(slices.Clip(at), step{name: name, item: true, index: n})
			i := slices.IndexFunc(is, func(other any) bool { return itemName(other) == name })
			if i < 0 && strings.HasPrefix(name, "map[") && n < len(is) {
				i = n // changed rather than removed
			}
			if i < 0 {
				lost = append(lost, item)
			} else {
				lost = append(lost, lostFields(item, value, is[i])...)
			}
		}
	}
	return lost
}

// isRole reports whether an object holds the rules of a role.
func isRole(object map[string]any) bool {
	return object["kind"] == "Role" || object["kind"] == "ClusterRole"
}

// itemName returns what distinguishes an item of a list.
func itemName(item any) string {
	if fields, ok := item.(map[string]any); ok {
		for _, key := range []string{"name", "key", "containerPort"} {
			if value, ok := fields[key]; ok {
				return fmt.Sprint(value)
			}
		}
	}
	text := fmt.Sprint(item)
	if flag, _, ok := strings.Cut(text, "="); ok && strings.HasPrefix(flag, "--") {
		return flag
	}
	return text
}
