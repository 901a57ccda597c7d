package codegen

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/goenv"
)

// Options are the options of Generate.
type Options struct {
	// Root is the absolute path of the directory of the module's go.mod. Required.
	Root string
	// Overlay contains files that are not on disk yet, by slash-separated paths relative to Root. Nil content removes a
	// file.
	Overlay map[string][]byte
	// Calls are the calls of controller-gen to reproduce (default: defaultCalls).
	Calls []Call
	// Year is the value of CurrentYear in the calls (default: see CurrentYear).
	Year string
	// KeepVersion keeps a CRD that differs only in the version of controller-gen in it, for projects that also run another
	// version.
	KeepVersion bool
	// Generators selects generators of the calls (default: All).
	Generators Generators
	// Unfollowed are the generators that the project runs in calls that cannot be reproduced.
	Unfollowed Generators
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
	// Warnings are about markers that no generator reads or that have no effect, and about calls that cannot be reproduced.
	Warnings []diag.Finding
	// Fixed is the content of Go files in which markers for packages without effect have moved to where they have one, by
	// slash-separated paths relative to the root.
	Fixed map[string][]byte

	packages []*sourcePackage
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
	var all generated
	if !g.store.Get("results", key, &all) || !g.isCurrent(all.External) {
		if all, err = g.generate(ctx); err != nil {
			return nil, err
		}
		g.store.Put("results", key, all)
		g.store.Trim()
	}
	g.keepVersions(all.Files)
	warnings = append(append(warnings, g.staleManifests(all)...), g.withoutGenerator()...)
	result := &Result{Files: all.Files, Warnings: append(warnings, all.Warnings...), Fixed: all.Fixed, packages: g.project.packages}
	for name := range all.Files {
		if dir, _, ok := strings.Cut(name, "/applyconfiguration/"); ok && !slices.Contains(result.ApplyDirs, dir) {
			result.ApplyDirs = append(result.ApplyDirs, dir)
		}
	}
	slices.Sort(result.ApplyDirs)
	return result, nil
}

// newGeneration sets defaults of options and reads the source of the project.
func newGeneration(opts Options) (*generation, error) {
	if opts.Calls == nil {
		opts.Calls = defaultCalls()
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
		env:       goenv.New(opts.Env, opts.Offline),
		store:     &filecache.Store{Dir: opts.CacheDir, Build: opts.Build},
		positions: positions{root: opts.Root},
	}
	g.immutable = g.env.Immutable()
	var err error
	if g.env.Tags, err = commonTags(opts.Calls); err != nil {
		return nil, err
	}
	g.project, err = newProject(opts.Root, opts.Overlay, g.env.BuildContext())
	return g, err
}

// A generation is one run of Generate.
type generation struct {
	opts      Options
	env       *goenv.Environment
	store     *filecache.Store
	positions positions
	project   *project
	all       []*task
	syntax    *syntax

	// base identifies all inputs except Go files and tasks; modules identifies the ones that determine the
	// dependencies; toolchain identifies the Go installation. immutable is env.Immutable.
	base, modules filecache.Digest
	toolchain     []byte
	immutable     func(names []string) bool
	// roots are the packages of all units.
	roots []*parsedPackage
	// required are the paths of the modules that the root module requires.
	required []string
}

// generated is what was generated from a project or a unit. It is an entry of the store.
type generated struct {
	// External contains the digests of the directories outside of the project that the files depend on.
	External map[string]string
	Files    map[string][]byte
	Warnings diag.Findings
	Fixed    map[string][]byte
}

func (g *generation) generate(ctx context.Context) (all generated, err error) {
	var used Generators
	for _, t := range g.all {
		used |= t.kind
	}
	registry, err := used.registry()
	if err != nil {
		return all, err
	}
	if g.syntax, err = g.project.parseWithImports(registry, g.selected()); err != nil {
		return all, err
	}
	all = generated{External: map[string]string{}, Files: map[string][]byte{}}
	if err := g.syntax.manifests(g.all, all.Files); err != nil {
		return all, err
	}
	if all.Warnings, all.Fixed, err = g.syntax.uselessMarkers(); err != nil {
		return all, err
	}
	units, err := g.units()
	if err != nil {
		return all, err
	}
	g.roots = g.packagesOf(units)
	store := func(u *unit, loaded []*loader.Package) {
		u.External = map[string]string{}
		visit(loaded, func(pkg *packages.Package) { g.addExternal(u.External, pkg) })
		g.store.Put("units", u.key, u.generated)
	}
	var stale []*unit
	for _, u := range units {
		if g.store.Get("units", u.key, &u.generated) && g.isCurrent(u.External) {
			continue
		}
		u.generated = generated{Files: map[string][]byte{}}
		if u.apply == "" {
			stale = append(stale, u)
			continue
		}
		loaded, err := g.applyConfigurations(ctx, u)
		if err != nil {
			return all, err
		}
		store(u, loaded)
	}
	if len(stale) > 0 {
		loaded, err := g.types(ctx, stale)
		if err != nil {
			return all, err
		}
		for _, u := range stale {
			store(u, rootsOf(loaded, []*unit{u}))
		}
	}
	for _, u := range units {
		all.Warnings = append(all.Warnings, u.Warnings...).Sort()
		maps.Copy(all.External, u.External)
		for name, content := range u.Files {
			if u.task.kind == Object && u.task.code != "" {
				name = path.Join(u.task.code, path.Base(name))
			}
			all.Files[name] = content
		}
	}
	return all, nil
}
