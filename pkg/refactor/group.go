package refactor

import (
	"context"
	"fmt"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Options configure SetMultigroup, Rename and SetScope.
type Options struct {
	// Go runs the go command.
	Go gotool.Go
	// NoVerify disables the type check before and after a move.
	NoVerify bool
	// Header is the comment at the start of Go files. Program is the name of the command line in texts.
	Header, Program string
}

// SetMultigroup moves the APIs, controllers and webhooks of a project into the multigroup layout or back, and updates
// all references. config gets the new layout. Errors in the code before or after the move are returned as
// diag.Findings; the tree must not be committed then.
func SetMultigroup(ctx context.Context, tree *worktree.Tree, config *project.Config, multi bool, o Options) error {
	if findings := groupFindings(config, multi); len(findings) > 0 {
		return findings
	}
	m, err := readModule(tree)
	if err != nil {
		return err
	}
	p := &plan{
		tree: tree, m: m, config: config, multi: multi,
		moves: &moves{files: map[string][]destination{}, alias: map[string]string{}},
		dirs:  map[string]string{},
	}
	if err := p.prepare(); err != nil {
		return err
	}
	renames := p.renames()
	if err := p.checkConflicts(renames); err != nil {
		return err
	}
	if len(p.moves.files) > 0 {
		if err := p.execute(ctx, o); err != nil {
			return err
		}
	}
	if err := p.rename(renames); err != nil {
		return err
	}
	if err := p.updateTexts(); err != nil {
		return err
	}
	before := config.MultiGroup()
	if err := p.updateProject(); err != nil {
		return err
	}
	return updateDocs(tree, config, before, o)
}

// groupFindings returns the reasons why a project cannot have a layout.
func groupFindings(config *project.Config, multi bool) diag.Findings {
	var findings diag.Findings
	if multi {
		packages := map[string]string{}
		for _, r := range config.Resources() {
			name := r.PackageName()
			if r.Group == "" || !isLocal(r, config) && !r.HasController() {
				continue
			}
			if token.IsKeyword(name) {
				findings = append(findings, diag.Finding{Field: "--multigroup", Value: "true",
					Problem: fmt.Sprintf("group %s would be the Go package %s, which is a keyword", r.Group, name)})
			}
			if other, ok := packages[name]; ok && other != r.Group {
				findings = append(findings, diag.Finding{Field: "--multigroup", Value: "true",
					Problem: fmt.Sprintf("groups %s and %s would both be the Go package %s", other, r.Group, name)})
			}
			packages[name] = r.Group
		}
		return findings
	}
	groups := map[string]bool{}
	for _, r := range config.Resources() {
		if isLocal(r, config) || r.HasController() || r.Webhooks != nil {
			groups[r.Group] = true
		}
	}
	if len(groups) > 1 {
		return diag.Findings{{Field: "--multigroup", Value: "false",
			Problem: fmt.Sprintf("the project has %d groups (%s), and the layout without groups supports one", len(groups), strings.Join(slices.Sorted(maps.Keys(groups)), ", "))}}
	}
	return nil
}

// isLocal reports whether the types of a resource belong to the project.
func isLocal(r project.Resource, config *project.Config) bool {
	return strings.HasPrefix(r.Path, config.Repo()+"/")
}

// checkConflicts returns an error if a move would overwrite files.
func (p *plan) checkConflicts(renames []rename) error {
	var paths []string
	leaving := map[string]bool{}
	for name := range p.moves.files {
		leaving[name] = true
	}
	taken := map[string]bool{}
	look := func(to string) {
		if p.tree.Exists(to) && !leaving[to] || taken[to] {
			paths = append(paths, to)
		}
		taken[to] = true
	}
	for _, name := range slices.Sorted(maps.Keys(p.moves.files)) {
		for _, d := range p.moves.files[name] {
			look(d.name)
		}
	}
	for _, r := range renames {
		look(path.Join(r.dir, r.to))
	}
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	return &scaffold.ConflictError{Paths: slices.Compact(paths), Hint: "move away what is listed; files of the project would move there"}
}

// execute moves the code and type-checks it before and after the move.
func (p *plan) execute(ctx context.Context, o Options) error {
	files := rewrite(p.m, p.moves)
	after, err := withChanges(p.m, files)
	if err != nil {
		return fmt.Errorf("the code would not compile after the move: %w", err)
	}
	if !o.NoVerify {
		libs, err := listLibraries(ctx, p.tree, o.Go, nil, p.m)
		if err != nil {
			return err
		}
		if findings := check(p.m, libs, nil); len(findings) > 0 {
			return &CodeError{Findings: findings}
		}
		if findings := check(after, libs, nil); len(findings) > 0 {
			return &CodeError{After: true, Findings: findings}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.moves.files)) {
		if p.m.Files[name] != nil {
			continue
		}
		data, err := p.tree.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		files[name] = nil
		for _, d := range p.moves.files[name] {
			files[d.name] = data
		}
	}
	writeFiles(p.tree, files)
	return nil
}

// CodeError reports that the code does not type-check, or would not after the change.
type CodeError struct {
	After    bool
	Findings diag.Findings
}

func (e *CodeError) Error() string {
	const most = 20
	list := e.Findings
	more := ""
	if len(list) > most {
		more = fmt.Sprintf("\nand %d more", len(list)-most)
		list = list[:most]
	}
	if e.After {
		return "nothing was changed, because the code would not compile after the move; places are those of the moved files:\n" + list.Error() + more +
			"\nwhat several groups share must be exported from a package of its own first"
	}
	return "the project's code does not compile, nothing was changed:\n" + list.Error() + more + "\ncorrect it and run the command again"
}

// Unwrap returns the findings.
func (e *CodeError) Unwrap() error { return e.Findings }

// updateProject sets the new layout in PROJECT.
func (p *plan) updateProject() error {
	if err := p.config.SetMultiGroup(p.multi); err != nil {
		return err
	}
	for _, r := range p.config.Resources() {
		if to := p.paths[r.GVK]; to != "" {
			r.Path = to
			if err := p.config.UpdateResource(r); err != nil {
				return err
			}
		}
	}
	return nil
}
