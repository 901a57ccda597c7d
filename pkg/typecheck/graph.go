package typecheck

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/filecache"
)

// A graph is the part of a list of packages that a project reaches through declarations. It is an entry of the cache, by which
// a check does without the go command. Its key is what the selection of modules depends on, but not the source of packages that
// may change, such as vendored ones: Digests tell whether they have.
type graph struct{ Packages []graphPackage }

// A graphPackage is a library in a graph. Packages that are imported but not reached have only a path and a name.
type graphPackage struct {
	Path, Name, Dir, Module string
	Files                   []string          // without Dir
	Imports                 map[string]string // from import paths to package paths
	Digest                  filecache.Digest  // of the Go files in Dir if their content may change
}

// encode returns the graph of reached libraries. It returns false if the go command reported an error about one of the listed.
func encode(all map[string]*library, reached []*library) (graph, bool) {
	for _, l := range all {
		if l.problem != "" {
			return graph{}, false
		}
	}
	var g graph
	names := map[string]string{}
	for _, l := range reached {
		p := graphPackage{Path: l.path, Name: l.name, Dir: l.dir, Module: l.module, Imports: map[string]string{}, Digest: l.digest}
		for _, name := range l.files {
			p.Files = append(p.Files, filepath.Base(name))
		}
		for source, imported := range l.imports {
			p.Imports[source] = imported.path
			names[imported.path] = imported.name
		}
		g.Packages = append(g.Packages, p)
	}
	for _, l := range reached {
		delete(names, l.path)
	}
	for _, path := range slices.Sorted(maps.Keys(names)) {
		g.Packages = append(g.Packages, graphPackage{Path: path, Name: names[path]})
	}
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
	return sources, ok
}
