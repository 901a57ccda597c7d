package upgrade

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Options are the options of Run.
type Options struct {
	// From is the release that scaffolded the project; empty means that it is detected.
	From string
	// To is the target version, which must be the program's version or empty.
	To string
	// Conflict is the side that decides conflicts: ours, theirs, or empty for conflict markers.
	Conflict string
	// Force upgrades even if kustomizations or code no longer build.
	Force bool
}

// Run upgrades the project to the current scaffold. If conflicts or problems with the new requirements are left to the user,
// it returns an error together with the result.
func Run(ctx context.Context, p *action.Project, o Options) (*action.Result, error) {
	known, err := checkUpgrade(p, o)
	if err != nil {
		return nil, err
	}
	config, err := p.Load(action.UpgradableLayouts)
	if err != nil {
		return nil, err
	}
	var u *upgrade
	result, err := p.UpdateOverConflicts(ctx, func(tree *worktree.Tree) error {
		u, err = applyUpgrade(ctx, p, tree, known, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.ReportFindings(diag.Warning, config.CheckModule()...)
	return result, u.describe(result, p)
}

// checkUpgrade validates the options, after PROJECT. It returns the scaffolds that the project may result from.
func checkUpgrade(p *action.Project, o Options) (*migrate.Fingerprints, error) {
	config, err := p.Load(action.UpgradableLayouts)
	if err != nil {
		return nil, err
	}
	known, err := migrate.ReadFingerprints(config.Facts().Fingerprints)
	if err != nil {
		return nil, err
	}
	var findings diag.Findings
	if o.From != "" {
		only := known.Named(o.From)
		if only == nil {
			findings = append(findings, diag.Finding{Field: "--from", Value: o.From,
				Problem: "unknown release; the nearest are " + strings.Join(known.Near(o.From), ", ")})
		}
		known = only
	}
	if o.To != "" && strings.TrimPrefix(o.To, "v") != strings.TrimPrefix(p.Version, "v") {
		findings = append(findings, diag.Finding{Field: "--to", Value: o.To,
			Problem: fmt.Sprintf("must be this binary's version, %s; use the binary of the target version", p.Version)})
	}
	if _, ok := action.ConflictSides()[o.Conflict]; !ok {
		findings.Add("--conflict", o.Conflict, "must be ours or theirs")
	}
	return known, findings.Err()
}

// An Preview describes the changes that an upgrade would make.
type Preview struct {
	Changes []worktree.Change
	// Files are the files of the scaffold, by path.
	Files []migrate.File
	// Conflicts is the number of files with conflicts.
	Conflicts int
	// Obstacle is the reason why go.mod, Go code and the manifests would not change, or nil.
	Obstacle error
	// From is the release that scaffolded the project.
	From migrate.Release
}

// Plan returns the changes that Upgrade would make.
func Plan(ctx context.Context, p *action.Project, o Options) (*Preview, error) {
	known, err := checkUpgrade(p, o)
	if err != nil {
		return nil, err
	}
	defer p.Reread()
	u, err := applyUpgrade(ctx, p, p.Files, known, o)
	if err != nil {
		return nil, err
	}
	preview := &Preview{Changes: u.changes, Files: u.files.Files, Conflicts: len(u.files.Conflicts()), From: u.files.From}
	if u.obstacle != nil {
		preview.Obstacle = u.obstacle
	}
	return preview, nil
}

// CompareScaffold returns the change of a file, given as a path of an option, to the current scaffold's file. The change is not
// made.
func CompareScaffold(p *action.Project, file string, o Options) (*action.Result, error) {
	if _, err := checkUpgrade(p, o); err != nil {
		return nil, err
	}
	defer p.Reread()
	tree := p.Files
	config, err := p.LoadFrom(tree, action.UpgradableLayouts)
	if err != nil {
		return nil, err
	}
	header := ""
	if config.Facts().NoModule == "" {
		if header, _, err = p.Header(tree); err != nil {
			return nil, err
		}
		if _, err := refactor.MoveToV4(tree, config); err != nil {
			return nil, err
		}
	}
	current, err := currentFiles(p, config, header, true)
	if err != nil {
		return nil, err
	}
	name := file
	if rel, err := filepath.Rel(p.Root, p.Absolute(file)); err == nil {
		name = filepath.ToSlash(rel)
	}
	text, ok := current[name]
	if !ok {
		return nil, diag.Findings{{Field: "--diff", Value: file, Problem: "is not a file that the scaffold writes"}}
	}
	ours, err := tree.ReadOptional(name)
	if err != nil {
		return nil, err
	}
	return &action.Result{Changes: []worktree.Change{{Path: name, Old: ours, New: text}}, DryRun: true}, nil
}
