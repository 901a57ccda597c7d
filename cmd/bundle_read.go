package cmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// bundleInput reads the manifests that a bundle is made from. An error of diag.Findings, which may
// be empty, leaves the objects that could be read.
func (a *app) bundleInput(tree *worktree.Tree, dir string, o *bundleOptions) ([]manifest.Object, []bundle.Note, error) {
	r := &folderReader{fs: a.FS, dir: dir}
	switch {
	case o.inputDir != "":
		r.read(o.inputDir, nil)
	case o.deployDir != "" && o.crdsDir != "":
		r.read(o.deployDir, func(obj manifest.Object) bool { return !isCRD(obj) })
		r.readTop(o.crdsDir, isCRD)
	case o.deployDir != "":
		r.read(o.deployDir, nil)
	case o.readsPipe(a.Env):
		return a.readStdin(false)
	default:
		objects, err := a.buildManifests(tree, o)
		return objects, nil, err
	}
	if o.readsPipe(a.Env) {
		return a.withStdin(r)
	}
	return r.objects, r.notes, r.problems
}

// readsPipe reports whether bundleInput reads stdin.
func (o *bundleOptions) readsPipe(e *Env) bool {
	if o.inputDir != "" || o.deployDir != "" {
		return o.pipeToo && e.InPipe
	}
	return (e.InPipe || e.InFile) && !o.build
}

// readPipe returns an app that has read its input already, if there is any to read: the program at the other end
// of the pipe may wait for the project's lock.
func (a *app) readPipe(o *bundleOptions) (*app, error) {
	if !o.readsPipe(a.Env) {
		return a, nil
	}
	data, err := safeyaml.ReadAll(a.In, safeyaml.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("reading stdin: %w", err)
	}
	env, read := *a.Env, *a
	env.In, read.Env = bytes.NewReader(data), &env
	return &read, nil
}

func isCRD(o manifest.Object) bool { return o.Kind() == "CustomResourceDefinition" }

// withStdin puts what is piped in before what was read from folders. A pipe without content, as
// scripts pass on to everything they call, is none.
func (a *app) withStdin(r *folderReader) ([]manifest.Object, []bundle.Note, error) {
	objects, notes, err := a.readStdin(true)
	problems, ok := err.(diag.Findings)
	if err != nil && !ok {
		return nil, nil, err
	}
	return append(objects, r.objects...), append(notes, r.notes...), append(problems, r.problems...)
}

// readStdin reads the objects that are piped in. Documents of other kinds are passed over with a note.
func (a *app) readStdin(mayBeEmpty bool) ([]manifest.Object, []bundle.Note, error) {
	data, err := safeyaml.ReadAll(a.In, safeyaml.MaxSize)
	if err != nil {
		return nil, nil, fmt.Errorf("reading stdin: %w", err)
	}
	objects, problems := manifest.Decode("stdin", data)
	var notes []bundle.Note
	own := slices.DeleteFunc(slices.Clone(problems), func(p diag.Finding) bool {
		if errors.Is(p, manifest.ErrNotKubernetes) {
			notes = append(notes, foreign(p))
		}
		return errors.Is(p, manifest.ErrNotKubernetes)
	})
	switch {
	case len(objects) == 0 && len(own) == 0 && len(problems) > 0:
		own = problems
	case len(objects) == 0 && len(own) == 0 && !mayBeEmpty:
		own = diag.Findings{{Position: diag.Position{File: "stdin"},
			Problem: "is empty: the command on the left of the pipe printed nothing; see what it says on its own"}}
	}
	return objects, notes, own
}

// foreign is the note about a document that is no Kubernetes object.
func foreign(p diag.Finding) bundle.Note {
	return bundle.Note{Position: p.Position, Subject: "the document", Reason: p.Problem + ", and was not read", Advice: "leave it out of the input", Dropped: true}
}

// buildManifests builds the kustomization of the bundle in this process.
func (a *app) buildManifests(tree *worktree.Tree, o *bundleOptions) ([]manifest.Object, error) {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if tree.Exists(path.Join(o.kustomizeDir, name)) {
			data, err := a.build(tree, o.kustomizeDir)
			if err != nil {
				return nil, err
			}
			if o.image != "" && !bytes.Contains(data, []byte(o.image)) {
				return nil, diag.Findings{{Field: "--image", Value: o.image, Problem: fmt.Sprintf(
					"reaches no container: nothing that %s builds has the image %s, which stands for the manager's in %s", o.kustomizeDir, managerImage, managerDir)}}
			}
			objects, problems := manifest.Decode(o.kustomizeDir, data)
			return objects, problems.Err()
		}
	}
	return nil, diag.Findings{{Field: "--input-dir", Problem: fmt.Sprintf(
		"is required: stdin is empty, and %s has no kustomization.yaml; pipe in the manifests of the operator, or give their directory", cmp.Or(o.kustomizeName, o.kustomizeDir))}}
}

// folderReader reads the manifests of folders.
type folderReader struct {
	fs       afero.Fs
	dir      string // that relative folders are in
	objects  []manifest.Object
	notes    []bundle.Note
	problems diag.Findings
}

func (r *folderReader) abs(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.dir, name)
}

// read takes the manifests of a folder and all folders below it, sorted by path.
func (r *folderReader) read(folder string, keep func(manifest.Object) bool) {
	r.walk(folder, keep, true)
}

// readTop takes the manifests of a folder, but not of those below it.
func (r *folderReader) readTop(folder string, keep func(manifest.Object) bool) {
	r.walk(folder, keep, false)
}

func (r *folderReader) walk(folder string, keep func(manifest.Object) bool, deep bool) {
	top := r.abs(folder)
	err := afero.Walk(r.fs, top, func(p string, info fs.FileInfo, err error) error {
		rel, _ := filepath.Rel(top, p)
		name := path.Join(filepath.ToSlash(folder), filepath.ToSlash(rel))
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, reason(err))
		}
		if p == top {
			if !info.IsDir() {
				return fmt.Errorf("%s is no folder; name the folder of the operator's manifests", name)
			}
			return nil
		}
		if strings.HasPrefix(info.Name(), ".") {
			r.skip(name, "is hidden and was not read", "rename it if it belongs to the operator")
			if info.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if info.IsDir() {
			if !deep {
				return filepath.SkipDir
			}
			return nil
		}
		return r.file(p, name, keep)
	})
	if err != nil {
		r.problems = append(r.problems, diag.Finding{Position: diag.Position{File: filepath.ToSlash(folder)}, Problem: strings.TrimPrefix(err.Error(), "reading "+filepath.ToSlash(folder)+": ")})
	}
}

func (r *folderReader) skip(name, reason, advice string) {
	r.notes = append(r.notes, bundle.Note{Subject: name, Reason: reason, Advice: advice, Dropped: true})
}

// file reads the objects of one file. A file that is no manifest by name is one if it holds objects.
func (r *folderReader) file(p, name string, keep func(manifest.Object) bool) error {
	info, err := r.fs.Stat(p)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, reason(err))
	}
	if !info.Mode().IsRegular() {
		r.skip(name, "is no regular file and was not read", "")
		return nil
	}
	if base := path.Base(name); base == "kustomization.yaml" || base == "kustomization.yml" || base == "Kustomization" {
		r.skip(name, "is a kustomization and was not read", "build it, and give what comes out")
		return nil
	}
	var (
		objects  []manifest.Object
		problems diag.Findings
	)
	data, err := safeyaml.ReadFile(r.fs, p, safeyaml.MaxSize)
	switch {
	case is[*safeyaml.Error](err):
		problems = diag.Findings{manifest.Unbounded(name, err)}
	case err != nil:
		return fmt.Errorf("reading %s: %w", name, reason(err))
	default:
		objects, problems = manifest.Decode(name, data)
	}
	named := slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
	for _, problem := range problems {
		if errors.Is(problem, manifest.ErrNotKubernetes) || !named {
			r.notes = append(r.notes, foreign(problem))
			continue
		}
		r.problems = append(r.problems, problem)
	}
	for _, o := range objects {
		if keep == nil || keep(o) {
			r.objects = append(r.objects, o)
		}
	}
	return nil
}
