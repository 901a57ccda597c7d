// Package codegen generates what controller-gen generates, byte for byte: deepcopy methods, CRDs, roles, webhook
// configurations and apply configurations. Generate runs the generators of controller-tools in-process on the Calls of a
// project; it loads packages once for all generators, type-checks only API packages, and caches the results. APIs reads
// the kinds of a project for its CSV, and ControllerGen behaves like the program.
package codegen

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Options are the options of Generate.
type Options struct {
	// Root is the absolute path of the directory of the module's go.mod. Required.
	Root string
	// Overlay contains files that are not on disk yet, by slash-separated paths relative to Root. Nil content removes a
	// file.
	Overlay map[string][]byte
	// Calls are the calls of controller-gen to reproduce (default: DefaultCalls).
	Calls []Call
	// Year is the value of CurrentYear in the calls (default: see CurrentYear).
	Year string
	// KeepVersion keeps a CRD that differs only in the version of controller-gen in it, for projects that also run another
	// version.
	KeepVersion bool
	// Generators selects generators of the calls (default: All).
	Generators Generators
	// CacheDir is the directory of cached results; if empty, nothing is cached. Projects and processes may share it, and it
	// may be removed at any time.
	CacheDir string
	// Build identifies the build of the program, which affects the output: cached results of other builds are not used.
	Build string
	// Env is the environment of the go command.
	Env []string
	// Offline prevents the go command from downloading modules.
	Offline bool
}

// Result is the result of Generate.
type Result struct {
	// Files contains the content of all generated files, by slash-separated paths relative to the root. A generator without
	// input writes no file.
	Files map[string][]byte
	// ApplyDirs are the directories of the packages whose types have apply configurations.
	ApplyDirs []string
	// Warnings are about markers that no generator reads, and about calls that cannot be reproduced.
	Warnings []diag.Finding
}

// Generate generates the files of a project. It writes only to CacheDir and temporary directories. The only process that
// it starts is go list, if types changed together with imports or modules.
//
// Problems in the source are returned as Findings, all at once. Other errors wrap ErrGoMissing or ErrModulesMissing in
// these cases.
func Generate(ctx context.Context, opts Options) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g, err := newGeneration(opts)
	if err != nil {
		return nil, err
	}
	var warnings diag.Findings
	if g.all, warnings, err = g.tasks(); err != nil {
		return nil, err
	}
	g.setKeys()

	key := g.resultKey()
	if entry, ok := g.store.get("results", key); ok && len(entry) > 1 && g.isCurrent(entry[0]) {
		files := decodeFiles(entry[2:])
		g.keepVersions(files)
		return newResult(files, append(warnings, decodeFindings(entry[1])...)), nil
	}
	result, external, err := g.generate(ctx)
	if err != nil {
		return nil, err
	}
	g.store.put("results", key, append([][]byte{external, encodeFindings(result.Warnings)}, encodeFiles(result.Files)...))
	g.store.trim()
	result.Warnings = append(warnings, result.Warnings...)
	g.keepVersions(result.Files)
	return result, nil
}

// newResult returns the result with files and warnings.
func newResult(files map[string][]byte, warnings []diag.Finding) *Result {
	r := &Result{Files: files, Warnings: warnings}
	for name := range files {
		if dir, _, ok := strings.Cut(name, "/applyconfiguration/"); ok && !slices.Contains(r.ApplyDirs, dir) {
			r.ApplyDirs = append(r.ApplyDirs, dir)
		}
	}
	slices.Sort(r.ApplyDirs)
	return r
}

// newGeneration sets defaults of options and reads the source of the project.
func newGeneration(opts Options) (*generation, error) {
	if opts.Calls == nil {
		opts.Calls = DefaultCalls()
	}
	if opts.Generators == 0 {
		opts.Generators = All
	}
	if opts.Generators&CRD != 0 {
		opts.Generators |= schemaPatches
	}
	if !filepath.IsAbs(opts.Root) {
		return nil, fmt.Errorf("root of the module %q: must be an absolute path", opts.Root)
	}
	opts.Root = filepath.Clean(opts.Root)
	g := &generation{
		opts:      opts,
		env:       newEnvironment(opts.Env, opts.Offline),
		store:     &store{dir: opts.CacheDir, build: opts.Build},
		positions: positions{root: opts.Root},
	}
	var err error
	if g.env.tags, err = commonTags(opts.Calls); err != nil {
		return nil, err
	}
	g.project, err = newProject(opts.Root, opts.Overlay, g.env.buildContext())
	return g, err
}

// A generation is one run of Generate.
type generation struct {
	opts      Options
	env       *environment
	store     *store
	positions positions
	project   *project
	all       []*task
	syntax    *syntax

	// base identifies all inputs except Go files and tasks; modules identifies those of them that determine the
	// dependencies; toolchain identifies the Go installation.
	base, modules digest
	toolchain     []byte
	goroot        string
	moduleCache   string
	// roots are the packages of all units.
	roots []*parsedPackage
	// required are the paths of the modules that the root module requires.
	required []string
}

// generate generates all files. It also returns the digests of the directories outside of the project that they depend
// on, for isCurrent.
func (g *generation) generate(ctx context.Context) (*Result, []byte, error) {
	var used Generators
	for _, t := range g.all {
		used |= t.kind
	}
	registry, err := used.registry()
	if err != nil {
		return nil, nil, err
	}
	if g.syntax, err = g.project.parseWithImports(registry, g.selected()); err != nil {
		return nil, nil, err
	}
	result := &Result{Files: map[string][]byte{}}
	if err := g.syntax.manifests(g.all, result.Files); err != nil {
		return nil, nil, err
	}
	if result.Warnings, err = g.syntax.unknownMarkers(); err != nil {
		return nil, nil, err
	}
	units, err := g.units()
	if err != nil {
		return nil, nil, err
	}
	g.roots = g.packagesOf(units)
	external := map[string]string{}
	generated := func(u *unit, loaded []*loader.Package) {
		digests := map[string]string{}
		visit(loaded, func(pkg *packages.Package) { g.addExternal(digests, pkg) })
		encoded := encodeDigests(digests)
		addDigests(external, encoded)
		g.store.put("units", u.key, append([][]byte{encoded}, encodeFiles(u.files)...))
	}
	var stale []*unit
	for _, u := range units {
		if entry, ok := g.store.get("units", u.key); ok && len(entry) > 0 && g.isCurrent(entry[0]) {
			u.files = decodeFiles(entry[1:])
			addDigests(external, entry[0])
		} else if u.apply == "" {
			stale = append(stale, u)
		} else if loaded, err := g.applyConfigurations(ctx, u); err != nil {
			return nil, nil, err
		} else {
			generated(u, loaded)
		}
	}
	if len(stale) > 0 {
		loaded, err := g.types(ctx, stale)
		if err != nil {
			return nil, nil, err
		}
		for _, u := range stale {
			generated(u, rootsOf(loaded, []*unit{u}))
		}
	}
	for _, u := range units {
		for name, content := range u.files {
			if u.copy && u.task.code != "" {
				name = path.Join(u.task.code, path.Base(name))
			}
			result.Files[name] = content
		}
	}
	return newResult(result.Files, result.Warnings), encodeDigests(external), nil
}
