package bundles

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// KustomizeOptions are the options of GenerateKustomize.
type KustomizeOptions struct {
	// APIsDir contains the API types, InputDir the current base in its directory bases, and OutputDir receives the results.
	// Empty means the scaffold's directories.
	APIsDir, InputDir, OutputDir string
	// Package is the name of the package; empty means the project's name.
	Package string
	// Prefer resolves conflicts between the base and the code: base, code, or empty for an error.
	Prefer string
	// Metadata is the description of the operator to set.
	Metadata base.Metadata
	// Findings are the caller's findings about its flags, which are returned together with the findings about the options.
	Findings diag.Findings
}

// A baseRun contains the validated options of generating a base. Its directories are relative to the root.
type baseRun struct {
	KustomizeOptions
	replaces, skipRange string
	// input and output are the files of the base before and after the command. reached reports whether the kustomization reaches
	// the output.
	input, output string
	reached       bool
}

// CurrentBase describes the base CSV before a command generates it.
type CurrentBase struct {
	// Input and Output are the paths of the base before and after the command, relative to the root.
	Input, Output string
	// Content is the content of the base, or nil if there is none.
	Content []byte
	// Scaffolded reports whether the base is the scaffold's, so that the operator is not described yet.
	Scaffolded bool
}

// Described returns the texts of the base that describe the operator, or none if there is no base.
func (b *CurrentBase) Described() (base.Metadata, error) {
	if b.Content == nil {
		return base.Metadata{}, nil
	}
	return base.Describe(b.Input, b.Content)
}

// GenerateKustomize updates the base of the ClusterServiceVersion to the metadata and the API types, and adds a kustomization if
// there is none.
func GenerateKustomize(ctx context.Context, p *action.Project, o KustomizeOptions) (*action.Result, error) {
	_, b, err := resolveKustomize(p, o)
	if err != nil {
		return nil, err
	}
	var record []byte
	result, err := p.UpdateAt(ctx, b.OutputDir, func(tree *worktree.Tree) (err error) {
		record, err = generateBase(ctx, p, tree, b)
		return err
	})
	if err == nil && !p.DryRun {
		recordBase(p, b, record)
	}
	return result, err
}

// CheckKustomize validates the options of GenerateKustomize and returns the current base.
func CheckKustomize(p *action.Project, o KustomizeOptions) (*CurrentBase, error) {
	p = silent(p)
	config, b, err := resolveKustomize(p, o)
	if err != nil {
		return nil, err
	}
	return currentBase(p, config, b)
}

// silent returns the project without reports, for checks that the command repeats.
func silent(p *action.Project) *action.Project {
	silent := *p
	silent.Report = nil
	return &silent
}

func currentBase(p *action.Project, config *project.Config, b *baseRun) (*CurrentBase, error) {
	current := &CurrentBase{Input: b.input, Output: b.output}
	var err error
	if current.Content, err = p.Files.ReadOptional(current.Input); err != nil {
		return nil, err
	}
	current.Scaffolded = isScaffolded(config, b.Package, current.Content)
	return current, nil
}

// resolveKustomize reads PROJECT, validates the options and makes the directories relative to the root.
func resolveKustomize(p *action.Project, o KustomizeOptions) (*project.Config, *baseRun, error) {
	config, err := p.Load(action.AnyLayout)
	if err != nil {
		return nil, nil, err
	}
	b := &baseRun{KustomizeOptions: o}
	var findings diag.Findings
	for _, dir := range []struct {
		flag, defaultDir string
		value            *string
	}{{"--apis-dir", project.APIDir, &b.APIsDir}, {"--input-dir", project.ManifestsDir, &b.InputDir}, {"--output-dir", project.ManifestsDir, &b.OutputDir}} {
		if *dir.value == "" {
			*dir.value = dir.defaultDir
			continue
		}
		rel, err := p.FromRoot(*dir.value)
		if dir.flag == "--output-dir" {
			if err != nil {
				return nil, nil, err
			}
			*dir.value = rel
			continue
		}
		problem := ""
		switch {
		case err != nil || action.IsOutside(rel):
			problem = "must be a directory of the project"
		case dir.flag == "--apis-dir":
			if info, err := p.FS.Stat(filepath.Join(p.Root, filepath.FromSlash(rel))); err == nil && !info.IsDir() {
				problem = "must be a directory"
			}
		}
		if problem != "" {
			findings.Add(dir.flag, *dir.value, problem)
			continue
		}
		*dir.value = rel
	}
	if err := resolveBase(p, config, b, findings); err != nil {
		return nil, nil, err
	}
	return config, b, b.locateBase(p.Files, b.OutputDir, o.InputDir != "")
}

// resolveBase validates and completes the options of a base except for directories. It returns all findings together with those
// about the directories.
func resolveBase(p *action.Project, config *project.Config, b *baseRun, findings diag.Findings) error {
	switch base.Side(b.Prefer) {
	case base.Neither, base.InBase, base.InCode:
	default:
		findings.Add("--prefer", b.Prefer, "must be base or code")
	}
	switch {
	case b.Package != "":
		if strings.ContainsAny(b.Package, `/\`) {
			findings.Add("--package", b.Package, "must be a name")
		}
	case config.ProjectName() != "":
		b.Package = config.ProjectName()
	default:
		name, found := project.ProjectNameFromDir(filepath.Base(p.Root))
		for _, f := range found {
			f.Field, f.Problem = "--package", strings.ReplaceAll(f.Problem, "--project-name", "--package")
			findings = append(findings, f)
		}
		b.Package = name
	}
	findings = append(findings, b.Findings...)
	if err := findings.Err(); err != nil {
		return err
	}
	if problems := validation.IsDNS1123Subdomain(b.Package + ".v0.0.0"); len(problems) > 0 {
		p.Reportf(diag.Warning, "--package %q: Kubernetes will refuse a ClusterServiceVersion of that name: %s", b.Package, problems[0])
	}
	return nil
}

// kustomization adds a kustomization.yaml for a base if there is none.
func kustomization(p *action.Project, tree *worktree.Tree, b *baseRun) error {
	if b.reached {
		return nil
	}
	name := path.Join(b.OutputDir, project.KustomizationFile)
	current, err := tree.ReadOptional(name)
	if err != nil {
		return err
	}
	entry := bundle.BaseFile("", b.Package)
	if current != nil {
		if !strings.Contains(string(current), entry) {
			p.Reportf(diag.Note, "note: %s does not list %s among its resources: add it for bundles of this package", name, entry)
		}
		return nil
	}
	text, err := scaffoldFile(project.ManifestsDir+"/"+project.KustomizationFile, scaffold.Project{Name: b.Package})
	if err != nil {
		return err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "- ../"); ok {
			target := path.Join(project.ConfigDir, strings.TrimSpace(rest))
			if !tree.Exists(target) {
				continue // kustomize rejects missing directories
			}
			rel, err := filepath.Rel(filepath.Join(tree.Root(), filepath.FromSlash(b.OutputDir)), filepath.Join(tree.Root(), filepath.FromSlash(target)))
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
