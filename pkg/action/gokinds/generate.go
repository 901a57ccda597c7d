package gokinds

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/wiring"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// generateCode updates the files that are generated from Go code.
func generateCode(ctx context.Context, p *action.Project, tree *worktree.Tree, what codegen.Generators) error {
	var start time.Time
	if p.Now != nil {
		start = p.Now()
	}
	found, err := calls.Find(tree)
	if err != nil {
		return err
	}
	if what&codegen.Object != 0 {
		if _, _, err := p.HeaderOf(tree, found.Calls); err != nil {
			return err
		}
	}
	if tree.CheckConflicts() == nil { // notes about a makefile with conflicts would follow from these
		for _, note := range found.Notes {
			p.Reportf(diag.Note, "note: %s", note)
		}
	}
	p.ReportFindings(diag.Warning, found.Findings...)
	for _, call := range found.Calls {
		p.Reportf(diag.Detail, "%s: controller-gen %s", call.Source, strings.Join(call.Args, " "))
	}
	options := codegenOptions(p)
	options.Root, options.Overlay = tree.Root(), tree.Edits()
	options.Calls, options.Unfollowed, options.KeepVersion = found.Calls, found.Unfollowed, found.Foreign
	options.Generators = what
	var result *codegen.Result
	generate := func() error {
		return p.RunStep("loading the types that the project uses, and generating code and manifests", func() error {
			result, err = codegen.Generate(ctx, options)
			return err
		})
	}
	if err = generate(); errors.Is(err, codegen.ErrModulesMissing) {
		if err := p.Go.Download(ctx, tree); err != nil {
			return err
		}
		err = generate()
	}
	if err != nil {
		return err
	}
	if p.Fix && len(result.Fixed) > 0 {
		for name, content := range result.Fixed {
			tree.WriteFile(name, content, 0o644)
		}
		options.Overlay = tree.Edits()
		if err := generate(); err != nil {
			return err
		}
	}
	p.ReportFindings(diag.Warning, result.Warnings...)
	for _, dir := range result.ApplyDirs {
		if err := scaffold.DropApply(tree, dir); err != nil {
			return err
		}
	}
	for name, content := range result.Files {
		tree.WriteFile(name, content, 0o644)
	}
	if what&(codegen.CRD|codegen.RBAC|codegen.Webhook) != 0 {
		if err := wiring.Check(p, tree, found, result); err != nil {
			return err
		}
	}
	if len(result.ApplyDirs) > 0 { // the code imports modules that the project may not have imported before
		if _, err := scaffold.UpdateRequirements(tree); err != nil {
			return err
		}
	}
	if p.Now != nil {
		p.Reportf(diag.Detail, "generated code and manifests in %s", p.Now().Sub(start).Round(100*time.Microsecond))
	}
	return nil
}

// crdDirs returns the directories that CRDs are generated in.
func crdDirs(tree *worktree.Tree) ([]string, error) {
	found, err := calls.Find(tree)
	if err != nil {
		return nil, err
	}
	return codegen.CRDDirs(found.Calls)
}
