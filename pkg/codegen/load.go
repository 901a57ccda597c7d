package codegen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// load asks the go command for packages and all that they import. It starts go list once for the packages
// of the root module, however many there are, and once for each package of a nested module.
func (g *generation) load(ctx context.Context, roots []*parsed) ([]*loader.Package, error) {
	if g.env.find("go") == "" {
		return nil, ErrGoMissing
	}
	flags, cleanup, err := g.overlayFlags()
	if err != nil {
		return nil, fmt.Errorf("writing the overlay for the go command: %w", reason(err))
	}
	defer cleanup()
	var patterns []string
	for _, root := range roots {
		if root.module.dir == "." {
			patterns = append(patterns, root.path)
		} else {
			patterns = append(patterns, g.project.abs(root.dir))
		}
	}
	loaded, err := loader.LoadRootsWithConfig(&packages.Config{
		Context:    ctx,
		Dir:        g.project.root,
		Env:        g.env.vars,
		Fset:       g.syntax.fset,
		BuildFlags: flags,
	}, patterns...)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, g.failure(err)
	}
	var findings Findings
	visit(loaded, func(p *packages.Package) {
		for _, e := range p.Errors {
			f := g.places.ofPackage(e)
			f.Message = explain(f.Message)
			findings = append(findings, f)
		}
	})
	if len(findings) > 0 {
		return nil, g.listError(findings)
	}
	return loaded, nil
}

// failure is the error for a go command that did not get as far as listing packages.
func (g *generation) failure(err error) error {
	f := g.places.ofCommand(err)
	for _, s := range []string{"go.mod requires go >=", "invalid go version", "toolchain not available"} {
		if strings.Contains(f.Message, s) {
			return fmt.Errorf("%w (%s)", ErrGoTooOld, strings.TrimPrefix(f.Message, "go list: "))
		}
	}
	if f.File != "" || missingModules(f.Message) || strings.Contains(f.Message, "go.mod") || strings.Contains(f.Message, "go.sum") {
		return g.listError(Findings{f})
	}
	// The rest is about the machine, such as a build cache that cannot be written.
	return errors.New(f.Message)
}

// listError is the error for what go list complains about.
func (g *generation) listError(findings Findings) error {
	findings = findings.tidy()
	for _, f := range findings {
		if missingModules(f.Message) {
			return fmt.Errorf("%w\n%w", findings, ErrModulesMissing)
		}
	}
	return findings
}

// visit calls back once for every package that roots import, and for themselves.
func visit(roots []*loader.Package, each func(*packages.Package)) {
	raw := make([]*packages.Package, len(roots))
	for i, root := range roots {
		raw[i] = root.Package
	}
	packages.Visit(raw, nil, each)
}

// overlayFlags hands the overlay to the go command, which reads it from files.
// The packages library does the same but cannot say that a file is gone.
func (g *generation) overlayFlags() (flags []string, cleanup func(), err error) {
	replace := map[string]string{}
	for name, content := range g.project.overlay {
		base := filepath.Base(name)
		if !strings.HasSuffix(base, ".go") && !slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt"}, base) {
			continue
		}
		disk, err := os.ReadFile(g.project.abs(name))
		if err == nil && content != nil && bytes.Equal(disk, content) || content == nil && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		replace[name] = ""
	}
	if len(replace) == 0 {
		return nil, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "operon-overlay-*")
	if err != nil {
		return nil, nil, err
	}
	cleanup = func() { _ = os.RemoveAll(dir) }
	byPath := make(map[string]string, len(replace))
	for name := range replace {
		temp := ""
		if content := g.project.overlay[name]; content != nil {
			temp = filepath.Join(dir, strconv.Itoa(len(byPath)))
			if err := os.WriteFile(temp, content, 0o600); err != nil {
				cleanup()
				return nil, nil, err
			}
		}
		byPath[g.project.abs(name)] = temp
	}
	data, err := json.Marshal(map[string]any{"Replace": byPath})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), data, 0o600)
	}
	if err != nil {
		cleanup()
		return nil, nil, err
	}
	return []string{"-overlay=" + filepath.Join(dir, "overlay.json")}, cleanup, nil
}
