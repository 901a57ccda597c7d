package action

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ErrConflicts means that an upgrade left conflicts to the user.
var ErrConflicts = errors.New("there are conflicts")

// conflictError returns the error for files in which an update marked conflicts. other is the other side, next what to do afterwards.
func (p *Project) conflictError(other string, names []string, next string) error {
	var files diag.Findings
	for _, name := range names {
		file := diag.Place(diag.Position{File: name}, "", fmt.Sprintf("you and %s have changed the same lines", other))
		if data, err := p.files.ReadFile(name); err == nil {
			if marked := textdiff.Conflicts(data); len(marked) > 0 {
				file.Line = marked[0].First
			}
		}
		file.Err = ErrConflicts
		files = append(files, file)
	}
	return diag.List(fmt.Sprintf("%v: you and %s have changed the same lines of", ErrConflicts, other), files,
		"choose between the lines marked there, then run "+next)
}

// UpgradeOptions are the options of Upgrade.
type UpgradeOptions struct {
	// From is the release that scaffolded the project; empty means that it is detected.
	From string
	// To is the target version, which must be the program's version or empty.
	To string
	// Conflict is the side that decides conflicts: ours, theirs, or empty for conflict markers.
	Conflict string
	// Force upgrades even if kustomizations or code no longer build.
	Force bool
}

// Upgrade upgrades the project to the current scaffold. If conflicts or problems with the new requirements are left to the user,
// it returns an error together with the result.
func (p *Project) Upgrade(ctx context.Context, o UpgradeOptions) (*Result, error) {
	known, err := p.checkUpgrade(o)
	if err != nil {
		return nil, err
	}
	var u *upgrade
	result, err := p.updateOverConflicts(ctx, func(tree *worktree.Tree) error {
		u, err = p.applyUpgrade(ctx, tree, known, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, u.describe(result, p)
}

// checkUpgrade validates the options, after PROJECT. It returns the scaffolds that the project may result from.
func (p *Project) checkUpgrade(o UpgradeOptions) (*migrate.Fingerprints, error) {
	config, err := p.Load(UpgradableLayouts)
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
	if _, ok := conflictSides()[o.Conflict]; !ok {
		findings.Add("--conflict", o.Conflict, "must be ours or theirs")
	}
	return known, findings.Err()
}

func conflictSides() map[string]merge.Side {
	return map[string]merge.Side{"": merge.Markers, "ours": merge.Ours, "theirs": merge.Theirs}
}

// An UpgradePreview describes the changes that an upgrade would make.
type UpgradePreview struct {
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

// PreviewUpgrade returns the changes that Upgrade would make.
func (p *Project) PreviewUpgrade(ctx context.Context, o UpgradeOptions) (*UpgradePreview, error) {
	known, err := p.checkUpgrade(o)
	if err != nil {
		return nil, err
	}
	defer p.reread()
	u, err := p.applyUpgrade(ctx, p.files, known, o)
	if err != nil {
		return nil, err
	}
	preview := &UpgradePreview{Changes: u.changes, Files: u.files.Files, Conflicts: len(u.files.Conflicts()), From: u.files.From}
	if u.obstacle != nil {
		preview.Obstacle = u.obstacle
	}
	return preview, nil
}

// CompareScaffold returns the change of a file, given as a path of an option, to the current scaffold's file. The change is not
// made.
func (p *Project) CompareScaffold(file string, o UpgradeOptions) (*Result, error) {
	if _, err := p.checkUpgrade(o); err != nil {
		return nil, err
	}
	defer p.reread()
	tree := p.files
	config, err := p.load(tree, UpgradableLayouts)
	if err != nil {
		return nil, err
	}
	header := ""
	if config.Facts().NoModule == "" {
		if header, _, err = p.header(tree); err != nil {
			return nil, err
		}
		if _, err := refactor.MoveToV4(tree, config); err != nil {
			return nil, err
		}
	}
	current, err := p.currentFiles(config, header, true)
	if err != nil {
		return nil, err
	}
	name := file
	if rel, err := filepath.Rel(p.Root, p.absolute(file)); err == nil {
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
	return &Result{Changes: []worktree.Change{{Path: name, Old: ours, New: text}}, DryRun: true}, nil
}
