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
)

// load asks the go command for packages and all that they import. It starts go list once for the packages
// of the root module, however many there are, and once for each package of a nested module.
func (g *generation) load(ctx context.Context, roots []*parsed) ([]*loader.Package, error) {
	if g.env.find("go") == "" {
		return nil, ErrGoMissing
	}
	config, remove, err := g.config(ctx)
	if err != nil {
		return nil, err
	}
	defer remove()
	loaded, err := loader.LoadRootsWithConfig(config, g.patterns(roots)...)
	if err != nil {
		return nil, g.loadError(ctx, err)
	}
	raw := make([]*packages.Package, len(loaded))
	for i, root := range loaded {
		raw[i] = root.Package
	}
	return loaded, g.packageErrors(raw)
}

// config returns the configuration for listing packages of the project as it will be, and a function that removes the
// temporary files of that.
func (g *generation) config(ctx context.Context) (config *packages.Config, remove func(), err error) {
	temp, err := g.env.prepare(g.project.root)
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = temp.Remove() } // a later command removes what is left
	flags, err := g.overlayFlags(temp.Path)
	if err != nil {
		remove()
		return nil, nil, overlayError(err)
	}
	return &packages.Config{
		Context:    ctx,
		Dir:        g.project.root,
		Env:        append(slices.Clone(g.env.vars), temp.Variable()),
		Fset:       g.syntax.fset,
		BuildFlags: append(flags, g.env.tagsFlag()),
	}, remove, nil
}

// patterns returns the arguments of go list for roots.
func (g *generation) patterns(roots []*parsed) []string {
	patterns := make([]string, len(roots))
	for i, root := range roots {
		patterns[i] = root.path
		if root.module.dir != "." {
			patterns[i] = g.project.abs(root.dir)
		}
	}
	return patterns
}

// loadError returns the error for a failed go command.
func (g *generation) loadError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return g.failure(err)
}

// packageErrors returns the errors that the go command reported for roots and all that they import, or nil.
func (g *generation) packageErrors(roots []*packages.Package) error {
	var findings Findings
	packages.Visit(roots, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			f := g.places.ofPackage(e)
			f.Message = explain(f.Message)
			findings = append(findings, f)
		}
	})
	if len(findings) > 0 {
		return g.listError(findings)
	}
	return nil
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

// hidden is an error whose findings are not about the source.
type hidden struct{ findings Findings }

func (e hidden) Error() string { return e.findings.Error() }

// listError is the error for what go list complains about.
func (g *generation) listError(findings Findings) error {
	findings = findings.tidy()
	for _, f := range findings {
		if missingModules(f.Message) {
			return fmt.Errorf("%w\n%w", hidden{findings}, ErrModulesMissing)
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

func overlayError(err error) error {
	return fmt.Errorf("writing the overlay for the go command: %w", reason(err))
}

// vendorList is the list of vendored modules.
const vendorList = "vendor/modules.txt"

// overlayFlags hands the overlay to the go command, which reads it from files in dir.
// The packages library does the same but cannot say that a file is gone. The go command compares go.mod with the list of
// vendored modules on disk, so that a vendor directory which changes is not used.
func (g *generation) overlayFlags(dir string) (flags []string, err error) {
	_, vendored := g.project.overlay[vendorList]
	if vendored {
		flags = []string{"-mod=readonly"}
	}
	replace := map[string]string{}
	for name, content := range g.project.overlay {
		if vendored && strings.HasPrefix(name, path.Dir(vendorList)+"/") {
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
		replace[name] = ""
	}
	if len(replace) == 0 {
		return flags, nil
	}
	byPath := make(map[string]string, len(replace))
	for name := range replace {
		temp := ""
		if content := g.project.overlay[name]; content != nil {
			temp = filepath.Join(dir, strconv.Itoa(len(byPath)))
			if err := os.WriteFile(temp, content, 0o600); err != nil {
				return nil, err
			}
		}
		byPath[g.project.abs(name)] = temp
	}
	data, err := json.Marshal(map[string]any{"Replace": byPath})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), data, 0o600)
	}
	if err != nil {
		return nil, err
	}
	return append(flags, "-overlay="+filepath.Join(dir, "overlay.json")), nil
}
