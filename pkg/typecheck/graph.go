package typecheck

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/filecache"
)

// A graph is the part of a list of packages that a project reaches through declarations. It is an entry of the cache, by which
// a check does without the go command. Its key is what the selection of modules depends on, but not the source of packages that
// may change, such as vendored ones: Digests show a change.
type graph struct {
	Packages []graphPackage
	Digest   filecache.Digest // of Packages
}

// A graphPackage is a library in a graph. Packages that are not reached have no directory.
type graphPackage struct {
	Path, Name, Dir, Module string
	Files                   []string          // without Dir
	Imports                 map[string]string // from import paths to package paths
	Digest                  filecache.Digest  // of the Go files in Dir if their content may change
}

// encode returns the graph of reached libraries, and, if wanted, the imports of all others. It returns false if the go command
// reported an error about one of them, or a file could not be read.
func encode(all map[string]*library, reached []*library, imports bool) (graph, bool) {
	var g graph
	add := func(l *library, p graphPackage) {
		p.Path, p.Name = l.path, l.name
		g.Packages = append(g.Packages, p)
	}
	targets := func(l *library) map[string]string {
		paths := map[string]string{}
		for source, imported := range l.imports {
			paths[source] = imported.path
		}
		return paths
	}
	isReached := map[*library]bool{}
	for _, l := range reached {
		isReached[l] = true
		p := graphPackage{Dir: l.dir, Module: l.module, Imports: targets(l), Digest: l.digest}
		for _, name := range l.files {
			p.Files = append(p.Files, filepath.Base(name))
		}
		add(l, p)
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		l := all[path]
		if l.problem != "" || l.unreadable {
			return graph{}, false
		}
		switch {
		case isReached[l]:
		case imports:
			add(l, graphPackage{Imports: targets(l)})
		default:
			add(l, graphPackage{})
		}
	}
	g.Digest = filecache.DigestOf(fmt.Appendf(nil, "%q", g.Packages))
	return g, true
}

// decode returns the libraries of a graph by path.
func (g graph) decode() map[string]*library {
	all := make(map[string]*library, len(g.Packages))
	for _, p := range g.Packages {
		l := &library{path: p.Path, name: p.Name, dir: p.Dir, module: p.Module, imports: map[string]*library{}}
		l.stored, l.omitted, l.wanted = true, p.Dir == "", p.Digest
		for _, name := range p.Files {
			l.files = append(l.files, filepath.Join(p.Dir, name))
		}
		all[p.Path] = l
	}
	for _, p := range g.Packages {
		for source, target := range p.Imports {
			all[p.Path].imports[source] = all[target]
		}
	}
	return all
}

// readSources returns the contents of the library's files. If the names of the files don't determine their content, it sets
// digest to the digest of all Go files in the directory, since any of them may become a file of the package. It reports false
// if a file cannot be read.
func (l *library) readSources(immutable bool) ([][]byte, bool) {
	contents := map[string][]byte{}
	names := l.files
	if !immutable {
		entries, err := os.ReadDir(l.dir)
		if err != nil {
			l.unreadable = true
			return nil, false
		}
		names = nil
		for _, entry := range entries {
			if name := entry.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				names = append(names, filepath.Join(l.dir, name))
			}
		}
	}
	ok := true
	var parts [][]byte
	for _, name := range names {
		data, err := os.ReadFile(name)
		ok = ok && err == nil
		contents[name] = data
		parts = append(parts, []byte(filepath.Base(name)), data)
	}
	if !immutable {
		l.digest = filecache.DigestOf(parts...)
	}
	sources := make([][]byte, len(l.files))
	for i, name := range l.files {
		data, read := contents[name]
		sources[i], ok = data, ok && read
	}
	l.unreadable = !ok
	return sources, ok
}
