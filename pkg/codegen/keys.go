package codegen

import (
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"

	"github.com/operon-sdk/operon/pkg/filecache"
)

// format is the version of the entries of the store. Increment it to invalidate them.
const format = "4"

// setKeys sets base and modules, and what the other keys need.
func (g *generation) setKeys() {
	g.toolchain = g.env.Toolchain()
	settings, _ := os.ReadFile(filepath.Join(g.env.Root(), "go.env"))
	context := g.project.context
	parts := [][]byte{
		[]byte(format), g.env.Identity(), g.toolchain, settings,
		[]byte(fmt.Sprintf("%s %s %t", context.GOOS, context.GOARCH, context.CgoEnabled)),
	}
	for _, m := range g.project.modules {
		for _, name := range []string{"go.mod", "go.sum", vendorList} {
			data, _ := g.project.read(path.Join(m.dir, name))
			parts = append(parts, []byte(m.dir), data)
		}
		parts = append(parts, g.replacements(m)...)
	}
	parts = append(parts, g.workspace()...)
	g.modules = filecache.DigestOf(parts...)
	g.base = filecache.DigestOf(g.modules[:], []byte(ControllerToolsVersion), []byte(g.store.Build))
	if g.replacesFiles() {
		g.store.Dir = "" // the keys would contain the wrong files
	}
}

// replacesFiles reports whether the go command reads other files than those of the project.
func (g *generation) replacesFiles() bool {
	flags := g.env.Setting("GOFLAGS")
	return strings.Contains(flags, "-modfile") || strings.Contains(flags, "-overlay")
}

// replacements returns the go.mod files of the directories that replace other modules. They take part in the selection of
// versions even if the project imports no package from these directories.
func (g *generation) replacements(m *module) [][]byte {
	file := g.project.goMod(m.dir)
	if file == nil {
		return nil // the go command reports it
	}
	if m.dir == "." {
		for _, r := range file.Require {
			g.required = append(g.required, r.Mod.Path)
		}
	}
	return goMods(g.project.abs(m.dir), file.Replace, nil)
}

// workspace returns the content of the go.work that applies to the project, if any, and of the go.mod files it refers to.
func (g *generation) workspace() [][]byte {
	setting := g.env.Setting("GOWORK")
	if setting == "off" {
		return nil
	}
	work, ok := g.project.overlay["go.work"]
	sums := g.project.overlay["go.work.sum"]
	dir := g.project.root
	if !ok || setting != "" {
		name := g.env.Workspace(dir)
		if name == "" {
			return nil
		}
		dir = filepath.Dir(name)
		work, _ = os.ReadFile(name)
		sums, _ = os.ReadFile(name + ".sum")
	}
	parts := [][]byte{work, sums}
	if file, err := modfile.ParseWork("go.work", work, nil); err == nil {
		parts = append(parts, goMods(dir, file.Replace, file.Use)...)
	}
	return parts
}

// goMods returns the go.mod and go.sum files of the directories that the directives of a go.mod or go.work in dir name.
func goMods(dir string, replace []*modfile.Replace, use []*modfile.Use) [][]byte {
	var parts [][]byte
	add := func(name string) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		data, _ := os.ReadFile(filepath.Join(name, "go.mod"))
		sums, _ := os.ReadFile(filepath.Join(name, "go.sum"))
		parts = append(parts, data, sums)
	}
	for _, r := range replace {
		if modfile.IsDirectoryPath(r.New.Path) {
			add(r.New.Path)
		}
	}
	for _, u := range use {
		add(u.Path)
	}
	return parts
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

// keyParts returns the parts of keys that identify the package.
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

// isCurrent reports whether digests of directories are those of their current content.
func (g *generation) isCurrent(digests map[string]string) bool {
	for dir, sum := range digests {
		if g.dirDigest(dir) != sum {
			return false
		}
	}
	return true
}
