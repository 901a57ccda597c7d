// Package codegen generates what controller-gen generates, byte for byte: copy methods, CRDs, roles and
// webhook configurations. It uses the generators of controller-tools in-process, loads packages once for
// all of them, type-checks API packages only, and does nothing again that did not change.
package codegen

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Generators is a set of generators.
type Generators uint

// The generators of a project.
const (
	// Object makes zz_generated.deepcopy.go in every API package.
	Object Generators = 1 << iota
	// CRD makes a CustomResourceDefinition for every kind.
	CRD
	// RBAC makes role.yaml of the rbac markers.
	RBAC
	// Webhook makes manifests.yaml of the webhook markers.
	Webhook

	// ApplyConfiguration makes apply configurations of the types whose markers ask for them.
	ApplyConfiguration

	schemaPatches

	// All is every generator of a project.
	All = Object | CRD | RBAC | Webhook | ApplyConfiguration
)

// Options say what to generate. The zero value of a field means what its comment says.
type Options struct {
	// Root is the folder of the module's go.mod, absolute. Required.
	Root string
	// Overlay holds files that are not on disk yet, by slash-separated paths relative to Root; nil content
	// stands for a file that is to be deleted.
	Overlay map[string][]byte
	// Calls are the calls of controller-gen to reproduce: DefaultCalls.
	Calls []Call
	// Year is the value of CurrentYear in the calls; empty leaves that to the files of the project.
	Year string
	// KeepVersion leaves a CRD as it is if it differs only in the version of controller-gen that it names, for projects that also
	// run another version.
	KeepVersion bool
	// Generators selects those of the calls that run: All.
	Generators Generators
	// CacheDir keeps what was generated for the next time. Empty turns that off. It may be shared by
	// projects and by processes, and be deleted at any time.
	CacheDir string
	// Build identifies the build of the program, which decides the output, too: the cache's entries of other builds are
	// not used.
	Build string
	// Env is the environment of the go command.
	Env []string
	// Offline keeps the go command from downloading modules.
	Offline bool
}

// Result is what was generated.
type Result struct {
	// Files holds the content of all generated files, by slash-separated paths relative to the root. Where
	// there is nothing to generate there is no file.
	Files map[string][]byte
	// Applied are the directories of the packages whose types have apply configurations.
	Applied []string
	// Warnings are about markers that no generator reads, and about calls that cannot be reproduced.
	Warnings []Finding
}

// Generate generates the files of a project. It writes nothing outside of CacheDir, and starts no process
// but go list, and that only where types changed together with imports or modules.
//
// What is wrong with the source is returned as Findings, all at once. Other errors wrap ErrGoMissing or
// ErrModulesMissing where these say what to do.
func Generate(ctx context.Context, opts Options) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g, err := newGeneration(opts)
	if err != nil {
		return nil, err
	}
	var warnings Findings
	if g.all, warnings, err = g.tasks(); err != nil {
		return nil, err
	}
	g.identify()

	whole := g.wholeKey()
	if parts, ok := g.store.get("results", whole); ok && len(parts) > 1 && g.holds(parts[0]) {
		files := decodeFiles(parts[2:])
		g.keepVersions(files)
		return newResult(files, append(warnings, decodeFindings(parts[1])...)), nil
	}
	result, witnesses, err := g.generate(ctx)
	if err != nil {
		return nil, err
	}
	g.store.put("results", whole, append([][]byte{witnesses, encodeFindings(result.Warnings)}, encodeFiles(result.Files)...))
	g.store.trim()
	result.Warnings = append(warnings, result.Warnings...)
	g.keepVersions(result.Files)
	return result, nil
}

// newResult returns the result of files and warnings.
func newResult(files map[string][]byte, warnings []Finding) *Result {
	r := &Result{Files: files, Warnings: warnings}
	for name := range files {
		if dir, _, ok := strings.Cut(name, "/applyconfiguration/"); ok && !slices.Contains(r.Applied, dir) {
			r.Applied = append(r.Applied, dir)
		}
	}
	slices.Sort(r.Applied)
	return r
}

// newGeneration completes options and reads the source of the project.
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
		return nil, fmt.Errorf("the module's root %q is not an absolute path", opts.Root)
	}
	opts.Root = filepath.Clean(opts.Root)
	g := &generation{
		opts:   opts,
		env:    newEnvironment(opts.Env, opts.Offline),
		store:  &store{dir: opts.CacheDir, build: opts.Build},
		places: places{root: opts.Root},
	}
	var err error
	if g.env.tags, err = commonTags(opts.Calls); err != nil {
		return nil, err
	}
	g.project, err = newProject(opts.Root, opts.Overlay, g.env.buildContext())
	return g, err
}

// generation is one run of Generate.
type generation struct {
	opts    Options
	env     *environment
	store   *store
	places  places
	project *project
	all     []*task
	syntax  *syntax

	// base identifies all inputs but Go files and tasks; modules identifies those among them that determine the dependencies;
	// toolchain identifies the Go installation.
	base, modules digest
	toolchain     []byte
	goroot        string
	caches        []string
	// roots are the packages of all units.
	roots []*parsed
	// required are the paths of the modules that the root module requires.
	required []string
}

// generate makes all files. The witnesses are the inputs outside of the project, for generation.holds.
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
	if result.Warnings, err = g.syntax.unknown(); err != nil {
		return nil, nil, err
	}
	units, err := g.units()
	if err != nil {
		return nil, nil, err
	}
	g.roots = g.packagesOf(units)
	witnesses := map[string]string{}
	var stale []*unit
	for _, u := range units {
		if parts, ok := g.store.get("units", u.key); ok && len(parts) > 0 && g.holds(parts[0]) {
			u.files = decodeFiles(parts[1:])
			addWitnesses(witnesses, parts[0])
		} else {
			stale = append(stale, u)
		}
	}
	for _, u := range stale {
		if u.apply == "" {
			continue
		}
		loaded, err := g.applyConfigurations(ctx, u)
		if err != nil {
			return nil, nil, err
		}
		dirs := map[string]string{}
		visit(loaded, func(one *packages.Package) { g.witness(dirs, one) })
		seen := encodeWitnesses(dirs)
		addWitnesses(witnesses, seen)
		g.store.put("units", u.key, append([][]byte{seen}, encodeFiles(u.files)...))
	}
	stale = slices.DeleteFunc(stale, func(u *unit) bool { return u.apply != "" })
	if len(stale) > 0 {
		loaded, err := g.types(ctx, stale)
		if err != nil {
			return nil, nil, err
		}
		for _, u := range stale {
			seen := g.witnesses(loaded, u)
			addWitnesses(witnesses, seen)
			g.store.put("units", u.key, append([][]byte{seen}, encodeFiles(u.files)...))
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
	return newResult(result.Files, result.Warnings), encodeWitnesses(witnesses), nil
}
