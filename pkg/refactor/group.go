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
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/typecheck"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// MultigroupOptions configure SetMultigroup.
type MultigroupOptions struct {
	// Multi selects the multigroup layout.
	Multi bool
	// Init is the data of init for the project before the change.
	Init scaffold.Data
	// Types checks the code before and after a move.
	Types typecheck.Checker
	// NoVerify disables the type check before and after a move.
	NoVerify bool
}

// SetMultigroup moves the APIs, controllers and webhooks of a project into the multigroup layout or back, and updates
// all references. config gets the new layout. Errors in the code before or after the move are returned as
// diag.Findings; the tree must not be committed then.
func SetMultigroup(ctx context.Context, tree *worktree.Tree, config *project.Config, o MultigroupOptions) error {
	multi := o.Multi
	if findings := groupFindings(config, multi); len(findings) > 0 {
		return findings
	}
	m := &gosource.Module{}
	if config.Facts().NoModule == "" {
		var err error
		if m, err = gosource.ReadModule(tree); err != nil {
			return err
		}
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
	if err := p.updateProject(); err != nil {
		return err
	}
	after := o.Init
	after.Project.MultiGroup = multi
	return updateDocs(tree, o.Init, after)
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
		if config.Owns(r) || r.HasController() || r.Webhooks != nil {
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
	var all []move
	for name, destinations := range p.moves.files {
		for _, d := range destinations {
			all = append(all, move{name, d.name})
		}
	}
	for _, r := range renames {
		all = append(all, move{to: path.Join(r.dir, r.to)})
	}
	return checkMoves(p.tree, all, "move away what is listed; files of the project would move there")
}

// A move is the old and the new name of a file.
type move struct{ from, to string }

// checkMoves returns an error with a hint if files would get the name of a file that does not move, or the same name.
func checkMoves(tree *worktree.Tree, moves []move, hint string) error {
	leaving, taken := map[string]bool{}, map[string]bool{}
	for _, m := range moves {
		leaving[m.from] = true
	}
	var conflicts []string
	for _, m := range moves {
		if tree.Exists(m.to) && !leaving[m.to] || taken[m.to] {
			conflicts = append(conflicts, m.to)
		}
		taken[m.to] = true
	}
	if len(conflicts) == 0 {
		return nil
	}
	slices.Sort(conflicts)
	return &scaffold.ConflictError{Places: scaffold.InTheWay(slices.Compact(conflicts)...), Hint: hint}
}

// execute moves the code and type-checks it before and after the move.
func (p *plan) execute(ctx context.Context, o MultigroupOptions) error {
	files := rewrite(p.m, p.moves)
	after, err := p.m.With(files)
	if err != nil {
		return fmt.Errorf("the code would not compile after the move: %w", err)
	}
	if !o.NoVerify {
		libs, err := o.Types.Load(ctx, p.tree, p.m)
		if err != nil {
			return err
		}
		findings, err := libs.Check(ctx, p.m, nil)
		if err != nil {
			return err
		}
		if len(findings) > 0 {
			return brokenBefore(findings)
		}
		if findings, err = libs.Check(ctx, after, nil); err != nil {
			return err
		}
		if len(findings) > 0 {
			return brokenAfter(findings)
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

// brokenBefore returns the error for code that does not type-check.
func brokenBefore(findings diag.Findings) error {
	return &diag.Group{Heading: "the project's code does not compile, nothing was changed:", Err: findings, Advice: []string{"correct it and run the command again"}}
}

// brokenAfter returns the error for code that would not type-check after the move.
func brokenAfter(findings diag.Findings) error {
	return &diag.Group{
		Heading: "nothing was changed, because the code would not compile after the move; positions are in the moved files:",
		Err:     findings, Advice: []string{"what several groups share must be exported from a package of its own first"},
	}
}

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
