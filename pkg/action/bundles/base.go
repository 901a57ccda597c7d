package bundles

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// generateBase updates the base in a tree. It returns the record for recordBase.
func generateBase(ctx context.Context, p *action.Project, tree *worktree.Tree, b *baseRun) ([]byte, error) {
	config, err := p.Load(action.AnyLayout)
	if err != nil {
		return nil, err
	}
	options := base.Options{Package: b.Package, Name: b.input, Metadata: b.Metadata, Prefer: base.Side(b.Prefer),
		Replaces: b.replaces, SkipRange: b.skipRange}
	if options.Base, err = tree.ReadOptional(b.input); err != nil {
		return nil, err
	}
	if options.Record, err = readBaseRecord(p, tree, b); err != nil {
		return nil, err
	}
	if config.HasKnownLayout() {
		for _, r := range config.Resources() {
			options.Known = append(options.Known, base.Kind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind})
		}
		options.Kinds, options.APIs, err = describeKinds(ctx, p, tree, config, b.APIsDir)
		if err != nil {
			_, other := base.Generate(options) // reports the problems of the base at the same time
			return nil, errors.Join(err, other)
		}
	}
	result, err := base.Generate(options)
	if err != nil {
		return nil, err
	}
	for _, note := range result.Notes {
		p.Reportf(diag.Note, "note: %s", note)
	}
	tree.WriteFile(b.output, result.CSV, 0o644)
	switch {
	case result.Edited:
		tree.WriteFile(b.recordPath(), result.Record, 0o644)
	case result.Record != nil && tree.Exists(b.recordPath()):
		tree.Remove(b.recordPath())
	}
	return result.Record, kustomization(p, tree, b)
}

// describeKinds describes the kinds of the project in the order of PROJECT.
func describeKinds(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, dir string) ([]base.Kind, []codegen.API, error) {
	kinds, apis, err := p.KindsOf(config.Facts()).Describe(ctx, p, tree, config, dir)
	if err != nil {
		return nil, nil, err
	}
	index := func(kind base.Kind) int {
		return slices.IndexFunc(config.Resources(), func(r project.Resource) bool {
			return kind == base.Kind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind}
		})
	}
	slices.SortStableFunc(kinds, func(a, b base.Kind) int { return cmp.Compare(index(a), index(b)) })
	return kinds, apis, nil
}

// scaffoldFile returns a file as Init writes it.
func scaffoldFile(name string, p scaffold.Project) ([]byte, error) {
	data, err := scaffold.RenderFile("init", name, scaffold.Data{Project: p})
	if err == nil && data == nil {
		err = fmt.Errorf("the scaffold has no %s", name)
	}
	return data, err
}

// isScaffolded reports whether a base comes unchanged from the scaffold.
func isScaffolded(config *project.Config, packageName string, content []byte) bool {
	if content == nil || packageName != config.ProjectName() {
		return false
	}
	want, err := scaffoldFile(bundle.BaseFile(project.ManifestsDir, packageName),
		scaffold.Project{Name: config.ProjectName(), Domain: config.Domain(), Repo: config.Repo(), Namespaced: config.Namespaced(),
			Layout: config.Facts()})
	return err == nil && bytes.Equal(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), want)
}

// recordPath is the file in the project that contains what the code gave for a base with edits, for all who work on the project.
func (b *baseRun) recordPath() string { return path.Join(".operon/bases", b.Package+".yaml") }

// readBaseRecord returns what the code gave for a base the last time: from the project, or else from the cache; nil if unknown.
func readBaseRecord(p *action.Project, tree *worktree.Tree, b *baseRun) ([]byte, error) {
	data, err := tree.ReadOptional(b.recordPath())
	if err != nil {
		return nil, err
	}
	if data != nil {
		if err := base.CheckRecord(data); err != nil {
			return nil, diag.Finding{
				Position: diag.Position{File: b.recordPath()}, Problem: err.Error(),
				Fix: "restore it from version control, or remove it to discard the record of manual changes",
			}
		}
		return data, nil
	}
	data = p.Records().Get(action.BaseRecord, b.output)
	if base.CheckRecord(data) != nil {
		return nil, nil
	}
	return data, nil
}

// recordBase stores what the code gave for a base in the cache.
func recordBase(p *action.Project, b *baseRun, record []byte) {
	if record != nil {
		p.Records().Put(action.BaseRecord, b.output, record)
	}
}
