// Package codegen generates what controller-gen generates, byte for byte: copy methods, CRDs, roles and
// webhook configurations. It uses the generators of controller-tools in-process, loads packages once for
// all of them, type-checks API packages only, and does nothing again that did not change.
package codegen

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
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

	applyConfigurations

	// All is every generator of a project.
	All = Object | CRD | RBAC | Webhook
)

// Options say what to generate. The zero value of a field means what its comment says.
type Options struct {
	// Root is the folder of the module's go.mod, absolute. Required.
	Root string
	// Overlay holds files that are not on disk yet, by slash-separated paths relative to Root; nil content
	// stands for a file that is to be deleted.
	Overlay map[string][]byte
	// HeaderFile is the header of copy methods, slash-separated and relative to Root: hack/boilerplate.go.txt.
	HeaderFile string
	// RoleName is the name of roles whose markers give none: manager-role.
	RoleName string
	// CRDDir, RBACDir and WebhookDir are the folders of manifests: config/crd/bases, config/rbac, config/webhook.
	CRDDir, RBACDir, WebhookDir string
	// Generators to run: All.
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
	// Warnings tell of markers that nothing reads.
	Warnings []Finding
}

// Generate generates the files of a project. It writes nothing outside of CacheDir, and starts no process
// but go list, and that only where types changed together with imports or modules.
//
// What is wrong with the source is returned as Findings, all at once. Other errors wrap ErrGoMissing,
// ErrModulesMissing or ErrHeaderMissing where these say what to do.
func Generate(ctx context.Context, opts Options) (*Result, error) {
	opts.fill()
	if !filepath.IsAbs(opts.Root) {
		return nil, fmt.Errorf("the module's root %q is not an absolute path", opts.Root)
	}
	opts.Root = filepath.Clean(opts.Root)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g := &generation{
		opts:   opts,
		env:    newEnvironment(opts.Env, opts.Offline),
		store:  &store{dir: opts.CacheDir, build: opts.Build},
		places: places{root: opts.Root},
	}
	var err error
	if g.project, err = newProject(opts.Root, opts.Overlay, g.env.buildContext()); err != nil {
		return nil, err
	}
	if opts.Generators&Object != 0 {
		if g.header, err = g.project.read(opts.HeaderFile); err != nil {
			return nil, fmt.Errorf("%w: %s (%w): restore it, or create it with the text that generated Go files shall start with; it may be empty", ErrHeaderMissing, opts.HeaderFile, reason(err))
		}
		// A byte order mark is none in the middle of a file.
		g.header = bytes.TrimPrefix(g.header, []byte("\uFEFF"))
	}
	g.identify()

	whole := g.wholeKey()
	if parts, ok := g.store.get("results", whole); ok && len(parts) > 1 && g.holds(parts[0]) {
		return &Result{Warnings: decodeFindings(parts[1]), Files: decodeFiles(parts[2:])}, nil
	}
	result, witnesses, err := g.generate(ctx)
	if err != nil {
		return nil, err
	}
	g.store.put("results", whole, append([][]byte{witnesses, encodeFindings(result.Warnings)}, encodeFiles(result.Files)...))
	g.store.trim()
	return result, nil
}

func (o *Options) fill() {
	for _, field := range []struct {
		value    *string
		fallback string
	}{
		{&o.HeaderFile, "hack/boilerplate.go.txt"},
		{&o.RoleName, "manager-role"},
		{&o.CRDDir, "config/crd/bases"},
		{&o.RBACDir, "config/rbac"},
		{&o.WebhookDir, "config/webhook"},
	} {
		if *field.value == "" {
			*field.value = field.fallback
		}
	}
	if o.Generators == 0 {
		o.Generators = All
	}
}

// generation is one run of Generate.
type generation struct {
	opts    Options
	env     *environment
	store   *store
	places  places
	project *project
	header  []byte
	syntax  *syntax

	// base identifies all inputs but Go files; modules identifies those among them that determine the dependencies;
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
	registry, err := g.opts.Generators.registry()
	if err != nil {
		return nil, nil, err
	}
	if g.syntax, err = g.project.parse(registry); err != nil {
		return nil, nil, err
	}
	result := &Result{Files: map[string][]byte{}}
	if err := g.syntax.manifests(&g.opts, result.Files); err != nil {
		return nil, nil, err
	}
	if result.Warnings, err = g.syntax.unknown(); err != nil {
		return nil, nil, err
	}
	units := g.units()
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
			result.Files[name] = content
		}
	}
	return result, encodeWitnesses(witnesses), nil
}
