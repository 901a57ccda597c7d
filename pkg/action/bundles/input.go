package bundles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Stdin is the standard input of a command. It is read only if the options require it.
type Stdin struct {
	Reader io.Reader
	// Pipe and File report whether it is a pipe or a file. Anything else, such as a terminal, is not read.
	Pipe, File bool
}

// readObjects reads the manifests of the operator. With an error of type diag.Findings, which may be empty, it returns the
// objects that could be read.
func (b *bundleRun) readObjects(ctx context.Context, tree *worktree.Tree) ([]manifest.Object, diag.Findings, error) {
	r := &manifestReader{Config: &b.Config}
	switch {
	case b.InputDir != "":
		r.read(b.InputDir, true, nil)
	case b.DeployDir != "" && b.CRDsDir != "":
		r.read(b.DeployDir, true, func(obj manifest.Object) bool { return !isCRD(obj) })
		r.read(b.CRDsDir, false, isCRD)
	case b.DeployDir != "":
		r.read(b.DeployDir, true, nil)
	case b.readsStdin():
		return b.readStdin(false)
	default:
		objects, err := b.buildManifests(ctx, tree)
		return objects, nil, err
	}
	if !b.readsStdin() {
		return r.objects, r.notes, r.problems
	}
	// A pipe may be empty here, since scripts pass their own on to every command.
	objects, notes, err := b.readStdin(true)
	problems, ok := err.(diag.Findings)
	if !ok {
		return nil, nil, err
	}
	return append(objects, r.objects...), append(notes, r.notes...), append(problems, r.problems...)
}

// readsStdin reports whether readObjects reads stdin.
func (b *bundleRun) readsStdin() bool {
	if b.InputDir != "" || b.DeployDir != "" {
		return b.pipeToo && b.Stdin.Pipe
	}
	return (b.Stdin.Pipe || b.Stdin.File) && !b.build
}

// bufferStdin reads stdin if the command needs it. It is called before the project is locked, since the program that writes to
// the pipe may wait for the lock.
func (b *bundleRun) bufferStdin() error {
	if !b.readsStdin() {
		return nil
	}
	data, err := safeyaml.ReadAll(b.Stdin.Reader, safeyaml.MaxSize)
	if err != nil {
		return fmt.Errorf("reading stdin: %w", err)
	}
	b.Stdin.Reader = bytes.NewReader(data)
	return nil
}

func isCRD(o manifest.Object) bool { return o.Kind() == "CustomResourceDefinition" }

// readStdin reads the objects of stdin. Other documents are notes.
func (b *bundleRun) readStdin(mayBeEmpty bool) ([]manifest.Object, diag.Findings, error) {
	data, err := safeyaml.ReadAll(b.Stdin.Reader, safeyaml.MaxSize)
	if err != nil {
		return nil, nil, fmt.Errorf("reading stdin: %w", err)
	}
	objects, problems := manifest.Decode("stdin", data)
	var notes diag.Findings
	invalid := slices.DeleteFunc(slices.Clone(problems), func(p diag.Finding) bool {
		if errors.Is(p, manifest.ErrNotKubernetes) {
			notes = append(notes, notKubernetesNote(p))
		}
		return errors.Is(p, manifest.ErrNotKubernetes)
	})
	switch {
	case len(objects) == 0 && len(invalid) == 0 && len(problems) > 0:
		invalid = problems
	case len(objects) == 0 && len(invalid) == 0 && !mayBeEmpty:
		invalid = diag.Findings{{Position: diag.Position{File: "stdin"},
			Problem: "is empty: the command on the left of the pipe printed nothing; run it alone to see its errors"}}
	}
	return objects, notes, invalid
}

// notKubernetesNote returns the note about a document that is not a Kubernetes object.
func notKubernetesNote(p diag.Finding) diag.Finding {
	return diag.Finding{Position: p.Position, Object: "the document", Problem: p.Problem + ", and was not read", Fix: "remove it from the input", Severity: diag.Warning}
}

// managerImage is the placeholder for the image of the manager in its kustomization.
const managerImage = "controller"

// buildManifests builds the kustomization of the bundle.
func (b *bundleRun) buildManifests(ctx context.Context, tree *worktree.Tree) ([]manifest.Object, error) {
	for _, name := range manifest.KustomizationFiles() {
		if !tree.Exists(path.Join(b.buildDir, name)) {
			continue
		}
		data, err := buildCached(ctx, b.Project, tree, b.buildDir, b.loose)
		if err != nil {
			return nil, err
		}
		if b.image != "" && !bytes.Contains(data, []byte(b.image)) {
			return nil, diag.Findings{{Field: "--image", Value: b.image, Problem: fmt.Sprintf(
				"is not used by any container: no object of %s has the image %s, the placeholder for the manager in %s", b.buildDir, managerImage, project.ManagerDir)}}
		}
		objects, problems := manifest.Decode(b.buildDir, data)
		return manifest.AtOrigins(objects, b.buildDir, tree.ReadFile), problems.Err()
	}
	given := b.kustomizeDir
	if b.KustomizeDir != "" {
		given = filepath.ToSlash(b.KustomizeDir)
	}
	return nil, diag.Findings{{Field: "--input-dir", Problem: fmt.Sprintf(
		"is required: stdin is empty, and %s has no kustomization.yaml; pipe in the manifests of the operator, or pass their directory", given)}}
}

// buildCached builds a kustomization of the project, or returns the output of an earlier build with the same inputs.
func buildCached(ctx context.Context, p *action.Project, tree *worktree.Tree, dir string, loose bool) ([]byte, error) {
	records := p.Records()
	out, built, err := p.Remote.BuildAgain(ctx, tree.Root(), dir, loose, tree.Edits(), manifest.ReadBuilt(records.Get(action.BuildRecord, dir)))
	if err != nil || built == nil {
		return out, err
	}
	if data, err := json.Marshal(built); err == nil {
		records.Put(action.BuildRecord, dir, data)
	}
	return out, nil
}
