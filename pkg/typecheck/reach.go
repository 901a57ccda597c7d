package typecheck

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/operon-sdk/operon/pkg/filecache"
)

// find sets the packages of l, from a graph in the cache if its files have not changed.
func (l *Libraries) find(ctx context.Context) error {
	settings := fmt.Appendf(nil, "%q %q %t %t", l.env.Tags, l.paths, l.checker.Bodies, changesRequirements(l.tree))
	requirements := append(l.env.Requirements(l.tree.Root(), l.tree.ReadFile, "."), []byte(format), settings)
	l.requirements = filecache.DigestOf(requirements...)
	if len(l.paths) == 0 {
		l.identify(graph{})
		return nil
	}
	var g graph
	if key, _ := l.graphKey(); l.store.Get("graphs", key, &g) {
		if l.packages = g.decode(); l.unchanged() {
			l.identify(g)
			return nil
		}
	}
	return l.list(ctx)
}

// graphKey returns the key of the graph in the cache. It is shared with projects in other directories unless the go command
// looks for packages relative to the project.
func (l *Libraries) graphKey() (key filecache.Digest, shared bool) {
	shared = !l.env.DependsOnPlace(l.tree.Root(), l.tree.ReadFile)
	root := ""
	if !shared {
		root = l.tree.Root()
	}
	return filecache.DigestOf(l.requirements[:], []byte(root)), shared
}

// identify sets what decides about the types of the packages: the settings and the graph with its digests.
func (l *Libraries) identify(g graph) {
	l.identity = filecache.DigestOf(l.requirements[:], g.Digest[:])
}

// unchanged reports whether the files of packages that come from a graph still have the content that it was made from.
func (l *Libraries) unchanged() bool {
	var mutable []*library
	for _, p := range l.packages {
		if !p.omitted && !l.system.immutable(p.files) {
			mutable = append(mutable, p)
		}
	}
	var changed atomic.Bool
	parallel(len(mutable), func(i int) {
		if _, ok := mutable[i].readSources(false); !ok || mutable[i].digest != mutable[i].wanted {
			changed.Store(true)
		}
	})
	return !changed.Load()
}

// list sets the packages of l, and those that are reached, with the go command.
func (l *Libraries) list(ctx context.Context) error {
	flags, remove, err := sourceFlags(l.tree, l.env, nil)
	if err != nil {
		return err
	}
	defer remove()
	if l.packages, err = l.checker.list(ctx, l.tree, flags, l.paths); err != nil {
		return err
	}
	if l.reached, _, err = reduceAll(ctx, l.roots(), l.store, l.system); err != nil {
		return err
	}
	l.identity = filecache.Digest{}
	g, ok := encode(l.packages, l.reached, l.checker.Bodies)
	if !ok {
		return nil
	}
	l.identify(g)
	key, shared := l.graphKey()
	if !shared || !slices.ContainsFunc(slices.Collect(maps.Values(l.packages)), func(p *library) bool { return p.main }) {
		l.store.Put("graphs", key, g)
	}
	return nil
}

// roots returns the packages at the paths, and all whose bodies count.
func (l *Libraries) roots() (list []*library) {
	for _, path := range l.paths {
		if p := l.packages[path]; p != nil {
			list = append(list, p)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(l.packages)) {
		p := l.packages[path]
		p.bodies = l.checker.Bodies && p.usesKubernetes()
		if p.bodies && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
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
