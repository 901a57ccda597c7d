package typecheck

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/goenv"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Libraries are the packages of other modules and the standard library that a project imports.
type Libraries struct {
	checker Checker
	tree    *worktree.Tree
	env     *goenv.Environment
	store   *filecache.Store
	system  system
	// paths are the import paths of the packages that the modules import.
	paths    []string
	packages map[string]*library
	// reached are the packages that paths reach through declarations. They are not known before load if packages come from a
	// graph.
	reached []*library
	// loaded means that the types are complete.
	loaded bool
	// requirements identifies the settings and what selects the versions of modules. identity also identifies the content of
	// all packages; it is zero if that is not known.
	requirements, identity filecache.Digest
	// failures holds the results of failed.
	failures map[*library]*library
	// cgo holds what cgo makes of packages of modules, by directory.
	cgo map[*gosource.Module]map[string]*cgoPackage
}

// loading is the state of a library while it is loaded.
type loading struct {
	// digest is the digest of the directory's Go files if their content may change.
	digest       filecache.Digest
	declarations declarations
	// needs are the libraries that the declarations import.
	needs []*library
	// unreadable means that a file could not be read.
	unreadable bool
	// stale means that the graph that the library comes from does not match the files.
	stale bool
	// done is closed when types is complete.
	done  chan struct{}
	types *types.Package
	// err is the first error in the declarations.
	err error
}

// importLibrary returns a package of another module or the standard library.
func (l *Libraries) importLibrary(path string) (*types.Package, error) {
	p := l.packages[path]
	if p == nil || p.types == nil {
		if p != nil && p.module != "" {
			return nil, p.broken()
		}
		return nil, errors.New("no module of go.mod provides it; run go mod tidy")
	}
	if failed := l.failed(p); failed != nil {
		return nil, failed.broken()
	}
	return p.types, nil
}

// broken returns the error for a library that cannot be imported.
func (p *library) broken() error {
	reason := ""
	if e, ok := errors.AsType[types.Error](p.err); ok {
		reason = ": " + e.Msg
	}
	if p.module == "" {
		return fmt.Errorf("%s does not compile%s", p.path, reason)
	}
	return fmt.Errorf("%s does not compile with the versions in go.mod%s; require another version of it", p.module, reason)
}

// failed returns a library with errors among p and those that it imports, or nil. Without bodies, only the imports of
// declarations count, as nothing is known about others.
func (l *Libraries) failed(p *library) *library {
	if known, ok := l.failures[p]; ok {
		return known
	}
	l.failures[p] = nil // in case of a cycle
	failure := p
	if p.err == nil {
		failure = nil
		imports := p.needs
		if l.checker.Bodies {
			imports = slices.SortedFunc(maps.Values(p.imports), func(a, b *library) int { return strings.Compare(a.path, b.path) })
		}
		for i := 0; i < len(imports) && failure == nil; i++ {
			failure = l.failed(imports[i])
		}
	}
	l.failures[p] = failure
	return failure
}

// load loads the types of the packages, once.
func (l *Libraries) load(ctx context.Context) error {
	if l.loaded || len(l.packages) == 0 {
		return nil
	}
	if l.reached == nil {
		var current bool
		var err error
		if l.reached, current, err = reduceAll(ctx, l.roots(), l.store, l.system); err != nil {
			return err
		}
		if !current { // it has changed meanwhile, or the module cache has lost it
			if err := l.list(ctx); err != nil {
				return err
			}
		}
	}
	count := &counter{}
	check := func() error { return checkAll(ctx, l.reached, l.system, count) }
	if l.checker.Report != nil {
		step := check
		check = func() error { return l.checker.Report(count.String, step) }
	}
	err := check()
	l.loaded = err == nil
	return err
}

// checkAll type-checks libraries in the order of their imports.
func checkAll(ctx context.Context, reached []*library, s system, count *counter) error {
	for _, l := range reached {
		l.done = make(chan struct{})
	}
	count.total.Store(int64(len(reached)))
	fset := token.NewFileSet()
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for _, l := range reached {
		wait.Go(func() {
			defer close(l.done)
			for _, needed := range l.needs {
				<-needed.done
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() == nil {
				l.check(fset, s)
			}
			count.done.Add(1)
		})
	}
	wait.Wait()
	return ctx.Err()
}

// check type-checks the declarations of the library, and drops their text.
func (l *library) check(fset *token.FileSet, s system) {
	var trees []*ast.File
	for i, text := range l.declarations.Files {
		tree, err := parser.ParseFile(fset, l.files[i], text, parser.SkipObjectResolution)
		if err != nil && l.err == nil {
			l.err = err
		}
		if tree != nil {
			trees = append(trees, tree)
		}
	}
	l.declarations = declarations{}
	if len(trees) == 0 {
		return
	}
	config := types.Config{
		Importer: importer(l.importNeeded), IgnoreFuncBodies: !l.bodies, FakeImportC: true, Sizes: s.sizes,
		Error: func(err error) {
			// Soft errors, such as unused imports, may be due to what was left out.
			if e, ok := errors.AsType[types.Error](err); l.err == nil && !(ok && (e.Soft || isCgoName(e))) {
				l.err = err
			}
		},
	}
	l.types, _ = config.Check(l.path, fset, trees, nil) // Error has recorded the error
}

// isCgoName reports whether an error is about a name that cgo generates. Go files may use such names without importing C.
func isCgoName(e types.Error) bool { return strings.HasPrefix(e.Msg, "undefined: _C") }

// An importer is a function that implements types.Importer.
type importer func(path string) (*types.Package, error)

// Import implements types.Importer.
func (i importer) Import(path string) (*types.Package, error) { return i(path) }

func (l *library) importNeeded(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	needed := l.imports[path]
	if needed == nil || !slices.Contains(l.needs, needed) || needed.types == nil {
		return nil, errors.New("it cannot be loaded")
	}
	return needed.types, nil
}

// A counter counts the packages that are checked.
type counter struct{ done, total atomic.Int64 }

func (c *counter) String() string {
	if total := c.total.Load(); total > 0 {
		return fmt.Sprintf("checking types: %d of %d packages that the project imports", c.done.Load(), total)
	}
	return "checking types"
}
