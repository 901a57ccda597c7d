package codegen

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/operon-sdk/operon/pkg/filecache"
)

// format is the version of the entries of the store. Increment it to invalidate them.
const format = "4"

// setKeys sets base and modules, and what the other keys need.
func (g *generation) setKeys() {
	g.toolchain = g.env.Toolchain()
	var dirs []string
	for _, m := range g.project.modules {
		dirs = append(dirs, m.dir)
	}
	if file := g.project.goMod("."); file != nil { // else the go command reports it
		for _, r := range file.Require {
			g.required = append(g.required, r.Mod.Path)
		}
	}
	parts := append([][]byte{[]byte(format)}, g.env.Requirements(g.project.root, g.project.read, dirs...)...)
	g.modules = filecache.DigestOf(parts...)
	g.base = filecache.DigestOf(g.modules[:], []byte(controllerToolsVersion), []byte(g.store.Build))
	if g.env.ReplacesFiles() {
		g.store.Dir = "" // the keys would contain the wrong files
	}
}

// resultKey identifies the inputs of a result that are in the project.
func (g *generation) resultKey() filecache.Digest {
	parts := [][]byte{g.base[:]}
	for _, t := range g.all {
		parts = append(parts, t.key)
		for _, pkg := range t.packages {
			parts = append(parts, []byte(pkg.path))
		}
	}
	for _, pkg := range g.project.packages {
		parts = append(parts, pkg.keyParts()...)
	}
	return filecache.DigestOf(parts...)
}

func (p *sourcePackage) keyParts() [][]byte {
	parts := [][]byte{[]byte(p.path)}
	for _, file := range p.files {
		parts = append(parts, []byte(file.name), file.digest[:])
	}
	return parts
}

// unitKey identifies the inputs of a unit: its packages and all packages of the project that they import.
func (g *generation) unitKey(u *unit) filecache.Digest {
	imported := g.closure(u.roots)
	parts := [][]byte{g.base[:], u.task.key, []byte(u.group)}
	for _, root := range u.roots {
		parts = append(parts, []byte(root.path))
	}
	for _, pkg := range g.syntax.packages {
		if slices.Contains(imported, pkg) {
			parts = append(parts, pkg.keyParts()...)
		}
	}
	return filecache.DigestOf(parts...)
}

// addExternal adds the directory of a package to digests if the package may change without a change of the project: if it is
// vendored, in a workspace, or in the directory of a replace directive.
func (g *generation) addExternal(digests map[string]string, pkg *packages.Package) {
	names := pkg.GoFiles
	if len(names) == 0 {
		names = pkg.OtherFiles
	}
	if len(names) == 0 || g.syntax.byPath[pkg.PkgPath] != nil || g.immutable(names) {
		return
	}
	dir := filepath.Dir(names[0])
	if rel, err := filepath.Rel(g.project.root, dir); err == nil {
		dir = rel
	}
	digests[filepath.ToSlash(dir)] = g.dirDigest(dir)
}

// dirDigest returns the digest of the Go files in a directory and of the go.mod that applies to it.
func (g *generation) dirDigest(dir string) string {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(g.project.root, filepath.FromSlash(dir))
	}
	var parts [][]byte
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			data, _ := os.ReadFile(filepath.Join(dir, name))
			parts = append(parts, []byte(name), data)
		}
	}
	for {
		if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			parts = append(parts, data)
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	sum := filecache.DigestOf(parts...)
	return hex.EncodeToString(sum[:])
}

// isCurrent reports whether digests of directories match their current content.
func (g *generation) isCurrent(digests map[string]string) bool {
	for dir, sum := range digests {
		if g.dirDigest(dir) != sum {
			return false
		}
	}
	return true
}
