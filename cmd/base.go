package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// readProject reads PROJECT, of any layout: there are bundles of all kinds of operators.
func readProject(tree *worktree.Tree) (*project.Config, error) {
	data, err := tree.ReadFile(project.FileName)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", project.FileName, reason(err))
	}
	return project.Parse(data)
}

// basePath is the file of a base below a folder.
func (o kustomizeOptions) basePath(dir string) string {
	return path.Join(dir, "bases", o.packageName+".clusterserviceversion.yaml")
}

// generateBase brings the base in a tree up to date. It returns the record of what the code gave, for rememberBase
// once the tree is written.
func (a *app) generateBase(ctx context.Context, tree *worktree.Tree, o kustomizeOptions, metadata base.Metadata) ([]byte, error) {
	config, err := readProject(tree)
	if err != nil {
		return nil, err
	}
	from := o.basePath(o.inputDir)
	options := base.Options{Package: o.packageName, Name: from, Metadata: metadata, Prefer: base.Side(o.prefer),
		Replaces: o.replaces, SkipRange: o.skipRange}
	if options.Base, err = readOptional(tree, from); err != nil {
		return nil, err
	}
	if options.Record, err = a.readBaseRecord(tree, o); err != nil {
		return nil, err
	}
	if isGo(config) {
		for _, r := range config.Resources() {
			options.Known = append(options.Known, base.Kind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind})
		}
		if options.Kinds, options.APIs, err = a.apis(ctx, tree, config, o.apisDir); err != nil {
			_, other := base.Generate(options) // whatever is wrong with the base is said along
			return nil, errors.Join(err, other)
		}
	}
	result, err := base.Generate(options)
	if err != nil {
		return nil, err
	}
	for _, note := range result.Notes {
		a.notef("note: %s", note)
	}
	tree.WriteFile(o.basePath(o.outputDir), result.CSV, 0o644)
	writeBaseRecord(tree, o, result)
	return result.Record, a.kustomization(tree, o)
}

// readOptional returns the content of a file in a tree, or nil if it does not exist.
func readOptional(tree *worktree.Tree, name string) ([]byte, error) { return tree.ReadOptional(name) }

// isGo tells whether the operator is written in Go, by the first plugin of PROJECT that says so.
func isGo(config *project.Config) bool {
	for _, plugin := range config.Layout() {
		for _, language := range []string{"go", "helm", "ansible"} {
			if strings.HasPrefix(plugin, language) {
				return language == "go"
			}
		}
	}
	return false
}

// apis reads the types of the project's kinds.
func (a *app) apis(ctx context.Context, tree *worktree.Tree, config *project.Config, dir string) ([]base.Kind, []codegen.API, error) {
	resources := config.Resources()
	if len(resources) == 0 {
		return nil, nil, nil
	}
	if !tree.Exists(dir) {
		a.warnf("directory %s not found, so the base does not describe the project's kinds; give another with --apis-dir", dir)
		return nil, nil, nil
	}
	apis, warnings, err := codegen.APIs(ctx, codegen.APIOptions{Root: tree.Root(), Overlay: tree.Edits(), Dir: dir, Env: a.Environ})
	if err != nil {
		return nil, nil, err
	}
	for _, warning := range warnings {
		a.warnf("%s", warning)
	}
	var kinds []base.Kind
	for _, r := range resources {
		kind := base.Kind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind}
		if slices.Contains(kinds, kind) {
			continue // two tools may have written the same kind
		}
		// The types of kinds that the project only has controllers for live elsewhere.
		if r.API != nil || slices.ContainsFunc(apis, func(api codegen.API) bool { return base.KindOf(api) == kind }) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, apis, nil
}

// kustomization adds a kustomization.yaml for a base where there is none.
func (a *app) kustomization(tree *worktree.Tree, o kustomizeOptions) error {
	name := path.Join(o.outputDir, "kustomization.yaml")
	there, err := readOptional(tree, name)
	if err != nil {
		return err
	}
	entry := "bases/" + o.packageName + ".clusterserviceversion.yaml"
	if there != nil {
		if !bytes.Contains(there, []byte(entry)) {
			a.notef("note: %s does not list %s among its resources: add it for bundles of this package", name, entry)
		}
		return nil
	}
	text, err := scaffoldFile(manifestsDir+"/kustomization.yaml", scaffold.Project{Name: o.packageName})
	if err != nil {
		return err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "- ../"); ok {
			target := path.Join("config", strings.TrimSpace(rest))
			if !tree.Exists(target) {
				continue // kustomize refuses folders that are not there
			}
			rel, err := filepath.Rel(filepath.Join(tree.Root(), filepath.FromSlash(o.outputDir)), filepath.Join(tree.Root(), filepath.FromSlash(target)))
			if err != nil {
				return err
			}
			line = "- " + filepath.ToSlash(rel) + "\n"
		}
		lines = append(lines, line)
	}
	tree.WriteFile(name, []byte(strings.Join(lines, "")), 0o644)
	return nil
}

// scaffoldFile is a file as init writes it.
func scaffoldFile(name string, p scaffold.Project) ([]byte, error) {
	data, err := scaffold.RenderFile("init", name, scaffold.Data{Project: p})
	if err == nil && data == nil {
		err = fmt.Errorf("the scaffold has no %s", name)
	}
	return data, err
}

// isScaffolded tells that a base is as init wrote it, so that nobody has described the operator yet.
func isScaffolded(config *project.Config, packageName string, content []byte) bool {
	if content == nil || packageName != config.ProjectName() {
		return false
	}
	want, err := scaffoldFile(kustomizeOptions{packageName: packageName}.basePath(manifestsDir),
		scaffold.Project{Name: config.ProjectName(), Domain: config.Domain(), Repo: config.Repo(), Namespaced: config.Namespaced()})
	return err == nil && bytes.Equal(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), want)
}
