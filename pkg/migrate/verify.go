package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A Loss is an object, or fields of it, that a kustomization no longer builds after an upgrade.
type Loss struct {
	// Kustomization is its directory.
	Kustomization string
	// Object is kind and name of an object. Fields are paths in it; empty if the entire object is missing.
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

// kustomizationError is an error in a kustomization after an upgrade.
type kustomizationError struct {
	// dir is its directory.
	dir string
	err error
}

func (e *kustomizationError) Error() string { return e.err.Error() }
func (e *kustomizationError) Unwrap() error { return e.err }

// A Verifier compares the results of a project's kustomizations before and after an upgrade.
type Verifier struct {
	// Build builds the kustomization in a directory of the project, with files that replace those on disk. NewVerifier sets one that
	// refuses references to other machines.
	Build func(dir string, files map[string][]byte) ([]byte, error)
	// NoProgram means that the program of the manager is not in the project, so that its flags are not verified.
	NoProgram bool
	before    *worktree.Tree
	// built holds the results of kustomizations before the upgrade by directory.
	built map[string]buildResult
	// base returns a file of the release of the project. If it is nil, all losses are intended.
	base func(name string) merge.Base
	// read holds the objects in the manifests before the upgrade, or nil before they are read.
	read []source
}

// A buildResult is a stream of objects or an error.
type buildResult struct {
	stream []byte
	err    error
}

// NewVerifier returns a Verifier for the project on disk.
func NewVerifier(before *worktree.Tree) *Verifier {
	return &Verifier{before: before, built: map[string]buildResult{}, Build: func(dir string, files map[string][]byte) ([]byte, error) {
		return manifest.RefuseRemote.Build(context.Background(), before.Root(), dir, files)
	}}
}

// buildBefore builds the kustomization in a directory before the upgrade, once. old contains kustomizations without
// deprecated fields.
func (v *Verifier) buildBefore(dir string, old map[string][]byte) ([]byte, error) {
	b, ok := v.built[dir]
	if !ok {
		b.stream, b.err = v.Build(dir, old)
		v.built[dir] = b
	}
	return b.stream, b.err
}

// Verify returns the losses of the upgrade in a tree. It is an error if a kustomization that was built before cannot be
// built, no longer lists a file that the upgrade did not remove, or loses what the user wrote. resolved contains the
// resolved texts of files with conflicts.
func (v *Verifier) Verify(after *worktree.Tree, resolved map[string][]byte) ([]Loss, error) {
	changes, err := after.Changes()
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	before := v.before
	kustomizations, err := readConfig(before, isKustomization)
	if err != nil {
		return nil, err
	}
	over := after.Edits()
	maps.Copy(over, resolved)
	old := map[string][]byte{} // kustomizations without deprecated fields
	var roots []string
	for _, f := range kustomizations {
		if current, ok := replaceDeprecated(f.text); ok {
			old[f.name] = current
		}
		if text, ok := over[f.name]; !ok {
			if current, ok := old[f.name]; ok {
				over[f.name] = current
			}
		} else if current, ok := replaceDeprecated(text); ok {
			over[f.name] = current
		}
		if after.Exists(f.name) {
			roots = append(roots, f.name)
		}
	}
	named := map[string]bool{} // kustomizations in other ones
	for _, name := range roots {
		oldText, newText, err := references(before, after, resolved, name)
		if err != nil {
			return nil, err
		}
		for _, file := range oldText {
			if before.Exists(file + "/" + project.KustomizationFile) {
				named[file] = true
			}
			if !slices.Contains(newText, file) && after.Exists(file) && unchanged(before, after, file) {
				return nil, &kustomizationError{path.Dir(name), fmt.Errorf("%s would no longer name %s", name, file)}
			}
		}
	}
	var losses []Loss
	for _, name := range roots {
		dir := path.Dir(name)
		oldText, err := v.buildBefore(dir, old)
		if remote, ok := errors.AsType[*manifest.RemoteError](err); ok {
			return nil, remote
		}
		if errors.Is(err, context.Canceled) {
			return nil, err
		}
		if err != nil {
			continue // already failed before
		}
		newText, err := v.Build(dir, over)
		if err != nil {
			return nil, &kustomizationError{dir, fmt.Errorf("%s would not build: %w", dir, errors.Unwrap(err))}
		}
		flag := ""
		if !v.NoProgram {
			if flag, err = undefinedFlag(after, changes, oldText, newText); err != nil {
				return nil, err
			}
		}
		if flag != "" {
			return nil, &kustomizationError{dir, fmt.Errorf("%s would start the manager with %s, which the project does not define", dir, flag)}
		}
		webhook, err := lostWebhook(after, oldText, newText)
		if err != nil {
			return nil, err
		}
		if webhook != "" {
			return nil, &kustomizationError{dir, fmt.Errorf("%s would no longer have webhook %s, which a patch would remove by its position", dir, webhook)}
		}
		if named[dir] {
			continue
		}
		lost, err := v.compare(after, dir, oldText, newText)
		if err != nil {
			return nil, err
		}
		losses = append(losses, lost...)
	}
	return losses, nil
}

// references returns the files and directories in a kustomization before and after.
func references(before, after *worktree.Tree, resolved map[string][]byte, name string) (oldText, newText []string, err error) {
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

// named returns the files and directories in a kustomization, with commented ones if options is true: entries that are
// no longer needed are commented out when webhooks move.
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

// unchanged reports whether an upgrade does not change a file.
func unchanged(before, after *worktree.Tree, name string) bool {
	a, err := before.ReadFile(name)
	if err != nil {
		return false
	}
	b, err := after.ReadFile(name)
	return err == nil && string(a) == string(b)
}

// compare returns what the first stream of objects has and the second does not. It is an error if the user wrote that.
func (v *Verifier) compare(after *worktree.Tree, dir string, oldText, newText []byte) ([]Loss, error) {
	old, current := objects(oldText), objects(newText)
	var losses []Loss
	for _, id := range slices.Sorted(maps.Keys(old)) {
		other, ok := current[id]
		lost := [][]step{nil}
		if ok {
			lost = lostFields(nil, old[id], other)
		}
		loss := Loss{Kustomization: dir, Object: id}
		for _, at := range lost {
			found := Loss{Kustomization: dir, Object: id}
			if len(at) > 0 {
				found.Fields = []string{pathText(at)}
			}
			if file, err := v.editedSource(after, id, at); err != nil {
				return nil, err
			} else if file != "" {
				return nil, &kustomizationError{path.Dir(file), fmt.Errorf("%s, which is in %s", found.text("would no longer have"), file)}
			}
			loss.Fields = append(loss.Fields, found.Fields...)
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
	documents, _ := safeyaml.Documents[map[string]any](stream)
	for _, document := range documents {
		object := *document
		metadata, _ := object["metadata"].(map[string]any)
		all[fmt.Sprintf("%v %v", object["kind"], metadata["name"])] = object
	}
	return all
}
