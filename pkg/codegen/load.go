package codegen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/goenv"
)

// load lists packages and their dependencies with the go command. It starts go list once for all packages of the root
// module, and once for each package of a nested module.
func (g *generation) load(ctx context.Context, roots []*parsedPackage) ([]*loader.Package, error) {
	if g.env.Find("go") == "" {
		return nil, ErrGoMissing
	}
	config, remove, err := g.config(ctx)
	if err != nil {
		return nil, err
	}
	defer remove()
	loaded, err := loader.LoadRootsWithConfig(config, g.patterns(roots)...)
	if err != nil {
		return nil, g.failure(ctx, err)
	}
	return loaded, g.packageErrors(rawPackages(loaded))
}

// config returns the configuration for listing packages of the project with its overlay, and a function that removes its
// temporary files.
func (g *generation) config(ctx context.Context) (config *packages.Config, remove func(), err error) {
	temp, err := g.env.Prepare(g.project.root)
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = temp.Remove() } // a later command removes the remaining files
	flags, err := g.overlayFlags(temp.Path)
	if err != nil {
		remove()
		return nil, nil, fmt.Errorf("writing the overlay for the go command: %w", diag.Cause(err))
	}
	return &packages.Config{
		Context:    ctx,
		Dir:        g.project.root,
		Env:        append(slices.Clone(g.env.Vars), temp.Variable()),
		Fset:       g.syntax.fset,
		BuildFlags: append(flags, g.env.TagsFlag()),
	}, remove, nil
}

// patterns returns the arguments of go list for roots.
func (g *generation) patterns(roots []*parsedPackage) []string {
	patterns := make([]string, len(roots))
	for i, root := range roots {
		patterns[i] = root.path
		if root.module.dir != "." {
			patterns[i] = g.project.abs(root.dir)
		}
	}
	return patterns
}

// packageErrors returns the errors that the go command reported for roots and all that they import, or nil.
func (g *generation) packageErrors(roots []*packages.Package) error {
	var findings diag.Findings
	packages.Visit(roots, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			f := g.positions.finding(e.Pos, e.Msg)
			f.Problem = explain(f.Problem)
			findings = append(findings, f)
		}
	})
	if len(findings) > 0 {
		return g.listError(findings)
	}
	return nil
}

// failure returns the error for a go command that listed no packages.
func (g *generation) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f := g.positions.commandFinding(err)
	has := func(part string) bool { return strings.Contains(f.Problem, part) }
	if has("go.mod requires go >=") || has("invalid go version") || has("toolchain not available") {
		return fmt.Errorf("%w (%s)", ErrGoTooOld, strings.TrimPrefix(f.Problem, "go list: "))
	}
	if f.File != "" || missingModules(f.Problem) || has("go.mod") || has("go.sum") {
		return g.listError(diag.Findings{f})
	}
	// The other errors are about the system, such as a build cache that is not writable.
	return errors.New(f.Problem)
}

func (g *generation) listError(findings diag.Findings) error {
	findings = findings.Sort()
	if !slices.ContainsFunc(findings, func(f diag.Finding) bool { return missingModules(f.Problem) }) {
		return findings
	}
	first, rest := diag.Shorten(findings, "finding")
	var errs []error // not diag.Findings, as they are not about the source
	for _, f := range first {
		f.Err = ErrModulesMissing
		errs = append(errs, f)
	}
	for _, line := range rest {
		errs = append(errs, errors.New(line))
	}
	return diag.Explain(errors.Join(errs...), ErrModulesMissing.Error())
}

// rawPackages returns packages without their loaders.
func rawPackages(loaded []*loader.Package) []*packages.Package {
	raw := make([]*packages.Package, len(loaded))
	for i, pkg := range loaded {
		raw[i] = pkg.Package
	}
	return raw
}

// visit calls a function for each of the roots and their dependencies once.
func visit(roots []*loader.Package, each func(*packages.Package)) {
	packages.Visit(rawPackages(roots), nil, each)
}

// overlayFlags writes the overlay to files in dir and returns the flags that make the go command read them.
// packages.Config.Overlay does the same but cannot remove files. The go command compares go.mod with the list of vendored
// modules on disk, so that a vendor directory is not used while it changes.
func (g *generation) overlayFlags(dir string) (flags []string, err error) {
	_, vendored := g.project.overlay[goenv.VendorList]
	if vendored {
		flags = []string{"-mod=readonly"}
	}
	replace := map[string]string{}
	for name, content := range g.project.overlay {
		if vendored && strings.HasPrefix(name, path.Dir(goenv.VendorList)+"/") {
			continue
		}
		base := filepath.Base(name)
		if !strings.HasSuffix(base, ".go") && !slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum"}, base) {
			continue
		}
		disk, err := os.ReadFile(g.project.abs(name))
		if err == nil && content != nil && bytes.Equal(disk, content) || content == nil && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		temp := "" // removes the file
		if content != nil {
			temp = filepath.Join(dir, strconv.Itoa(len(replace)))
			if err := os.WriteFile(temp, content, 0o600); err != nil {
				return nil, err
			}
		}
		replace[g.project.abs(name)] = temp
	}
	if len(replace) == 0 {
		return flags, nil
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "overlay.json")
	return append(flags, "-overlay="+name), os.WriteFile(name, data, 0o600)
}
