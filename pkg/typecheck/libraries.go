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
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Libraries are the packages of other modules and the standard library that a project imports. They implement
// types.Importer.
type Libraries struct {
	packages map[string]*library
	system   system
	tree     *worktree.Tree
	bodies   bool // see Checker.Bodies
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
	// stale means that the graph that the library comes from does not match the files.
	stale bool
	// done is closed when types is complete.
	done  chan struct{}
	types *types.Package
	// err is the first error in the declarations.
	err error
}

// Import returns a package of another module or the standard library.
func (l *Libraries) Import(path string) (*types.Package, error) {
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
		if l.bodies {
			imports = slices.SortedFunc(maps.Values(p.imports), func(a, b *library) int { return strings.Compare(a.path, b.path) })
		}
		for i := 0; i < len(imports) && failure == nil; i++ {
			failure = l.failed(imports[i])
		}
	}
	l.failures[p] = failure
	return failure
}

// load type-checks libraries in the order of their imports.
func load(ctx context.Context, reached []*library, s system, count *counter) error {
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

// reduceAll sets the declarations of roots and of all packages that they refer to, and returns these packages. It reports
// false if the graph that the libraries come from does not match the files.
func reduceAll(ctx context.Context, roots []*library, store *filecache.Store, s system) (reached []*library, current bool, err error) {
	reached = slices.Clone(roots)
	visited := map[*library]bool{}
	for _, root := range roots {
		visited[root] = true
	}
	for level := roots; len(level) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		parallel(len(level), func(i int) { level[i].reduce(store, s) })
		var next []*library
		for _, l := range level {
			if l.stale {
				return nil, false, nil
			}
			for _, needed := range l.needs {
				if !visited[needed] {
					visited[needed] = true
					next = append(next, needed)
				}
			}
		}
		reached, level = append(reached, next...), next
	}
	breakCycles(roots)
	return reached, true, nil
}

// parallel calls a function for each number below n, on all processors.
func parallel(n int, each func(i int)) {
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				each(int(i))
			}
		})
	}
	wait.Wait()
}

// breakCycles removes imports that lead back to the importer, which the go command has reported.
func breakCycles(roots []*library) {
	onPath := map[*library]bool{}
	var visit func(l *library)
	visit = func(l *library) {
		onPath[l] = true
		l.needs = slices.DeleteFunc(l.needs, func(needed *library) bool {
			active, visited := onPath[needed]
			if !visited {
				visit(needed)
			}
			return active
		})
		onPath[l] = false
	}
	for _, root := range roots {
		if _, visited := onPath[root]; !visited {
			visit(root)
		}
	}
}

// reduce sets the declarations of the library, from the store if they are in it.
func (l *library) reduce(store *filecache.Store, s system) {
	l.done = make(chan struct{})
	if l.stale = l.omitted; l.stale {
		return
	}
	if l.bodies {
		l.keepBodies(s)
		return
	}
	parts := [][]byte{[]byte(format)}
	for _, path := range slices.Sorted(maps.Keys(l.imports)) {
		parts = append(parts, []byte(path), []byte(l.nameOf(path)))
	}
	var sources [][]byte
	immutable := s.immutable(l.files)
	if immutable {
		parts = append(parts, s.toolchain)
		for _, name := range l.files {
			parts = append(parts, []byte(name))
		}
	} else {
		var ok bool
		sources, ok = l.readSources(false)
		parts = append(parts, sources...)
		if l.wanted != (filecache.Digest{}) && (!ok || l.digest != l.wanted) {
			l.stale = true
			return
		}
	}
	key := filecache.DigestOf(parts...)
	if !store.Get("declarations", key, &l.declarations) {
		ok := true
		if immutable {
			sources, ok = l.readSources(true)
		}
		if !ok && l.stored {
			l.stale = true // the module cache has lost it
			return
		}
		l.declarations = reduce(sources, l.nameOf)
		if ok {
			store.Put("declarations", key, l.declarations)
		}
	}
	l.setNeeds()
}

// keepBodies sets the declarations of the library to its whole source.
func (l *library) keepBodies(s system) {
	sources, ok := l.readSources(s.immutable(l.files))
	if l.stored && (!ok || l.digest != l.wanted) {
		l.stale = true
		return
	}
	l.declarations = declarations{Files: sources, Imports: slices.Collect(maps.Keys(l.imports))}
	l.setNeeds()
}

// setNeeds sets the libraries that the declarations import.
func (l *library) setNeeds() {
	for _, path := range slices.Sorted(slices.Values(l.declarations.Imports)) {
		if needed := l.imports[path]; needed != nil && path != "unsafe" {
			l.needs = append(l.needs, needed)
		}
	}
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
