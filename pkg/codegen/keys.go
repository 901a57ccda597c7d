package codegen

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// format changes whenever entries of the store are to be forgotten.
const format = "2"

// identify sets what all keys of this run have in common: everything but Go files that decides the output.
func (g *generation) identify() {
	g.caches = g.env.moduleCaches()
	var settings []byte
	if g.goroot = g.env.goroot(); g.goroot != "" {
		g.goroot += string(filepath.Separator)
		g.toolchain, _ = os.ReadFile(filepath.Join(g.goroot, "VERSION"))
		settings, _ = os.ReadFile(filepath.Join(g.goroot, "go.env"))
	}
	context := g.project.context
	parts := [][]byte{
		[]byte(format), g.env.identity(), g.toolchain, settings,
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
	g.modules = digestOf(parts...)
	g.base = digestOf(g.modules[:], []byte(ControllerToolsVersion), []byte(g.store.build))
	if g.replacesFiles() {
		g.store.dir = "" // they replace files that are part of the keys
	}
}

// replacesFiles reports whether the go command reads other files than those of the project, which are part of the keys.
func (g *generation) replacesFiles() bool {
	flags := g.env.setting("GOFLAGS")
	return strings.Contains(flags, "-modfile") || strings.Contains(flags, "-overlay")
}

// replacements returns the go.mod files of the directories that replace other modules. They take part in the selection of
// versions even where the project imports no package from these directories.
func (g *generation) replacements(m *module) [][]byte {
	data, err := g.project.read(path.Join(m.dir, "go.mod"))
	if err != nil {
		return nil
	}
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil // the go command reports it
	}
	if m.dir == "." {
		for _, r := range file.Require {
			g.required = append(g.required, r.Mod.Path)
		}
	}
	return goMods(g.project.abs(m.dir), file.Replace, nil)
}

// workspace returns the content of the go.work that the project belongs to, if any, and of the go.mod files it refers to.
func (g *generation) workspace() [][]byte {
	name := g.env.setting("GOWORK")
	if name == "off" {
		return nil
	}
	work, ok := g.project.overlay["go.work"]
	sums := g.project.overlay["go.work.sum"]
	dir := g.project.root
	if !ok || name != "" {
		if name == "" {
			if name = findWorkspace(dir); name == "" {
				return nil
			}
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

// goMods reads the go.mod and go.sum files of the directories in the directives of a go.mod or go.work in dir.
func goMods(dir string, replace []*modfile.Replace, use []*modfile.Use) [][]byte {
	var named []string
	for _, r := range replace {
		if modfile.IsDirectoryPath(r.New.Path) {
			named = append(named, r.New.Path)
		}
	}
	for _, u := range use {
		named = append(named, u.Path)
	}
	var parts [][]byte
	for _, name := range named {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		data, _ := os.ReadFile(filepath.Join(name, "go.mod"))
		sums, _ := os.ReadFile(filepath.Join(name, "go.sum"))
		parts = append(parts, data, sums)
	}
	return parts
}

// wholeKey identifies all that the project itself puts into a result.
func (g *generation) wholeKey() digest {
	parts := [][]byte{g.base[:]}
	for _, t := range g.all {
		parts = append(parts, t.key, fmt.Appendf(nil, "%q", t.names()))
	}
	for _, one := range g.project.packages {
		parts = append(parts, []byte(one.path))
		for _, file := range one.files {
			parts = append(parts, []byte(file.name), file.digest[:])
		}
	}
	return digestOf(parts...)
}

// unitKey identifies what a unit is made of: its packages and all packages of the project that they import.
func (g *generation) unitKey(u *unit) digest {
	seen := map[*parsed]bool{}
	for _, one := range g.closure(u.roots) {
		seen[one] = true
	}
	parts := [][]byte{g.base[:], u.task.key, []byte(u.group)}
	for _, root := range u.roots {
		parts = append(parts, []byte(root.path))
	}
	for _, one := range g.syntax.packages {
		if seen[one] {
			parts = append(parts, []byte(one.path))
			for _, file := range one.files {
				parts = append(parts, []byte(file.name), file.digest[:])
			}
		}
	}
	return digestOf(parts...)
}

// witnesses lists the folders of imported packages that may change without a change to the project:
// vendored ones, those of replace directives with a path, those of a workspace. Each comes with the digest
// of its content, one to a line.
func (g *generation) witnesses(loaded []*loader.Package, u *unit) []byte {
	dirs := map[string]string{}
	visit(rootsOf(loaded, []*unit{u}), func(one *packages.Package) { g.witness(dirs, one) })
	return encodeWitnesses(dirs)
}

// witness adds the directory of a package to dirs if its content may change: see witnesses.
func (g *generation) witness(dirs map[string]string, one *packages.Package) {
	names := one.GoFiles
	if len(names) == 0 {
		names = one.OtherFiles
	}
	if len(names) == 0 || g.syntax.byPath[one.PkgPath] != nil || g.immutable(names) {
		return
	}
	dir := filepath.Dir(names[0])
	if rel, err := filepath.Rel(g.project.root, dir); err == nil {
		dir = rel
	}
	dirs[filepath.ToSlash(dir)] = g.folder(dir)
}

// folder is the digest of the Go files of a folder and of the go.mod that it belongs to.
func (g *generation) folder(dir string) string {
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
	sum := digestOf(parts...)
	return hex.EncodeToString(sum[:])
}

// holds reports whether witnesses are still what they were.
func (g *generation) holds(witnesses []byte) bool {
	for line := range strings.Lines(string(witnesses)) {
		sum, dir, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || g.folder(dir) != sum {
			return false
		}
	}
	return true
}

func encodeWitnesses(dirs map[string]string) []byte {
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		fmt.Fprintf(&b, "%s %s\n", dirs[dir], dir)
	}
	return []byte(b.String())
}

func addWitnesses(to map[string]string, witnesses []byte) {
	for line := range strings.Lines(string(witnesses)) {
		if sum, dir, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			to[dir] = sum
		}
	}
}

func encodeFiles(files map[string][]byte) [][]byte {
	var parts [][]byte
	for _, name := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, []byte(name), files[name])
	}
	return parts
}

func decodeFiles(parts [][]byte) map[string][]byte {
	files := map[string][]byte{}
	for i := 0; i+1 < len(parts); i += 2 {
		files[string(parts[i])] = parts[i+1]
	}
	return files
}

func encodeFindings(findings []Finding) []byte {
	data, _ := json.Marshal(findings)
	return data
}

func decodeFindings(data []byte) []Finding {
	var findings []Finding
	_ = json.Unmarshal(data, &findings)
	return findings
}
