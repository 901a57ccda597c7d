package action

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// fromRoot returns the path of an option relative to the root, with slashes.
func (p *Project) fromRoot(name string) (string, error) { return p.relativeTo(p.Root, name) }

// relativeTo returns the path of an option relative to a directory, with slashes.
func (c *Config) relativeTo(root, name string) (string, error) {
	rel, err := filepath.Rel(root, c.absolute(name))
	if err != nil {
		return "", err
	}
	return filepath.ToSlash(rel), nil
}

// generateBase updates the base in a tree. It returns the record for recordBase.
func (p *Project) generateBase(ctx context.Context, tree *worktree.Tree, b *baseRun) ([]byte, error) {
	config, err := p.Load(AnyLayout)
	if err != nil {
		return nil, err
	}
	options := base.Options{Package: b.Package, Name: b.input, Metadata: b.Metadata, Prefer: base.Side(b.Prefer),
		Replaces: b.replaces, SkipRange: b.skipRange}
	if options.Base, err = tree.ReadOptional(b.input); err != nil {
		return nil, err
	}
	if options.Record, err = p.readBaseRecord(tree, b); err != nil {
		return nil, err
	}
	if config.HasKnownLayout() {
		for _, r := range config.Resources() {
			options.Known = append(options.Known, base.Kind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind})
		}
		options.Kinds, options.APIs, err = p.describeKinds(ctx, tree, config, b.APIsDir)
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
		p.reportf(diag.Note, "note: %s", note)
	}
	tree.WriteFile(b.output, result.CSV, 0o644)
	switch {
	case result.Edited:
		tree.WriteFile(b.recordPath(), result.Record, 0o644)
	case result.Record != nil && tree.Exists(b.recordPath()):
		tree.Remove(b.recordPath())
	}
	return result.Record, p.kustomization(tree, b)
}

// describeKinds describes the kinds of the project in the order of PROJECT.
func (p *Project) describeKinds(ctx context.Context, tree *worktree.Tree, config *project.Config, dir string) ([]base.Kind, []codegen.API, error) {
	kinds, apis, err := p.kinds(config.Facts()).Describe(ctx, p, tree, config, dir)
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

// apis reads the Go types of the project's kinds.
func (p *Project) apis(ctx context.Context, tree *worktree.Tree, config *project.Config, dir string) ([]base.Kind, []codegen.API, error) {
	resources := slices.DeleteFunc(config.Resources(), config.IsChart)
	if len(resources) == 0 {
		return nil, nil, nil
	}
	if !tree.Exists(dir) {
		p.reportf(diag.Warning, "directory %s not found, so the base does not describe the project's kinds; pass another one with --apis-dir", dir)
		return nil, nil, nil
	}
	apis, warnings, err := codegen.APIs(ctx, codegen.APIOptions{Root: tree.Root(), Overlay: tree.Edits(), Dir: dir, Env: p.Environ})
	if err != nil {
		return nil, nil, err
	}
	p.report(diag.Warning, warnings...)
	var kinds []base.Kind
	for _, r := range resources {
		kind := base.Kind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind}
		if slices.Contains(kinds, kind) {
			continue // two tools may have written the same kind
		}
		// The types of kinds with only a controller are in another module.
		if r.API != nil || slices.ContainsFunc(apis, func(api codegen.API) bool { return base.KindOf(api) == kind }) {
			kinds = append(kinds, kind)
		}
	}
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
func (p *Project) readBaseRecord(tree *worktree.Tree, b *baseRun) ([]byte, error) {
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
	data = p.records().Get(baseRecord, b.output)
	if base.CheckRecord(data) != nil {
		return nil, nil
	}
	return data, nil
}

// recordBase stores what the code gave for a base in the cache.
func (p *Project) recordBase(b *baseRun, record []byte) {
	if record != nil {
		p.records().Put(baseRecord, b.output, record)
	}
}
