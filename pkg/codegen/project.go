package codegen

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// A project is the source of a module: its files on disk with the overlay.
type project struct {
	root    string
	overlay map[string][]byte
	context build.Context

	packages []*sourcePackage // sorted by module, then by import path
	byPath   map[string]*sourcePackage
	modules  []*module // the root module first
}

// A module is the root module or one in its directories, which the pattern ./... of controller-gen also matches.
type module struct {
	dir    string // slash-separated, relative to the root
	path   string
	ignore []string
}

// A sourcePackage is a directory of Go files that the pattern ./... of its module matches.
type sourcePackage struct {
	module *module
	dir    string // slash-separated, relative to the root
	path   string // the import path
	files  []*sourceFile
}

// A sourceFile is a Go file that the build constraints select, without files of generated DeepCopy methods.
type sourceFile struct {
	name    string // slash-separated, relative to the root
	content []byte
	digest  filecache.Digest
}

// newProject reads the Go files of a module and of the modules nested in it.
func newProject(root string, overlay map[string][]byte, ctx build.Context) (*project, error) {
	p := &project{root: root, overlay: map[string][]byte{}, context: ctx, byPath: map[string]*sourcePackage{}}
	for name, content := range overlay {
		name = path.Clean(name)
		if path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
			return nil, fmt.Errorf("overlay file %s is outside of the module", name)
		}
		p.overlay[name] = content
	}
	p.context.OpenFile = func(name string) (io.ReadCloser, error) {
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		data, err := p.read(filepath.ToSlash(rel))
		return io.NopCloser(bytes.NewReader(data)), err
	}
	if _, err := p.read("go.mod"); err != nil {
		return nil, fmt.Errorf("reading go.mod: %w; run the command in the directory of the project's go.mod", diag.Cause(err))
	}
	if err := p.readDir(".", nil, true); err != nil {
		if findings, ok := errors.AsType[diag.Findings](err); ok {
			return nil, findings
		}
		return nil, fmt.Errorf("reading the module's source: %w", err)
	}
	slices.SortStableFunc(p.packages, func(a, b *sourcePackage) int {
		return cmp.Or(slices.Index(p.modules, a.module)-slices.Index(p.modules, b.module), strings.Compare(a.path, b.path))
	})
	for _, pkg := range slices.Backward(p.packages) {
		p.byPath[pkg.path] = pkg // the first one
	}
	return p, nil
}

// abs returns the absolute path of a file.
func (p *project) abs(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

// read returns the content of a file.
func (p *project) read(name string) ([]byte, error) {
	if content, ok := p.overlay[name]; ok {
		if content == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return content, nil
	}
	// Reading a pipe might not end.
	if info, err := os.Stat(p.abs(name)); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	return os.ReadFile(p.abs(name))
}

// goMod returns the go.mod in a directory, or nil if it cannot be read.
func (p *project) goMod(dir string) *modfile.File {
	data, err := p.read(path.Join(dir, "go.mod"))
	if err != nil {
		return nil
	}
	file, _ := modfile.Parse("go.mod", data, nil)
	return file
}

// list returns the sorted names in a directory; names of directories end in a slash.
func (p *project) list(dir string) ([]string, error) {
	names := map[string]bool{}
	for name, content := range p.overlay {
		rel, ok := strings.CutPrefix(name, dir+"/")
		if dir == "." {
			rel, ok = name, true
		}
		if first, _, nested := strings.Cut(rel, "/"); ok && content != nil && nested {
			names[first+"/"] = true
		} else if ok && content != nil {
			names[first] = true
		}
	}
	entries, err := os.ReadDir(p.abs(dir))
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && len(names) > 0) {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: diag.Cause(err)}
	}
	for _, entry := range entries {
		name, mode := entry.Name(), entry.Type()
		if _, changed := p.overlay[path.Join(dir, name)]; changed {
			continue
		}
		if mode&fs.ModeSymlink != 0 {
			// The go command follows links to files but not to directories.
			if info, err := os.Stat(p.abs(path.Join(dir, name))); err == nil && info.Mode().IsRegular() {
				names[name] = true
			}
		} else if mode.IsDir() {
			names[name+"/"] = true
		} else if mode.IsRegular() {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// readDir reads the packages in a directory and its subdirectories. If ./... does not match the directory, it only searches
// for modules in it, as controller-gen does.
func (p *project) readDir(dir string, m *module, matched bool) error {
	names, err := p.list(dir)
	if err != nil {
		if dir != "." {
			return nil // an unreadable directory contains no packages
		}
		return err
	}
	if slices.Contains(names, "go.mod") {
		if m, err = p.openModule(dir); err != nil {
			return err
		}
		matched = true
	} else if m != nil && m.ignores(dir) {
		matched = false
	}
	pkg := &sourcePackage{module: m, dir: dir}
	for _, name := range names {
		full := path.Join(dir, name)
		if sub, isDir := strings.CutSuffix(name, "/"); isDir {
			if strings.HasPrefix(sub, ".") || full == path.Join(m.dir, "vendor") {
				continue
			}
			below := matched && !strings.HasPrefix(sub, "_") && sub != "testdata" && path.Base(dir) != "vendor"
			if err := p.readDir(full, m, below); err != nil {
				return err
			}
			continue
		}
		if !matched || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || name[0] == '_' || name[0] == '.' {
			continue
		}
		content, err := p.read(full)
		if err != nil {
			return &fs.PathError{Op: "open", Path: full, Err: diag.Cause(err)}
		}
		selected, err := p.context.MatchFile(p.abs(dir), name)
		if err != nil || selected {
			// The parser reports a file whose package clause cannot be read.
			pkg.files = append(pkg.files, &sourceFile{name: full, content: content, digest: filecache.DigestOf(content)})
		}
	}
	if len(pkg.files) > 0 {
		pkg.path = path.Join(m.path, m.rel(dir))
		p.packages = append(p.packages, pkg)
	}
	return nil
}

// openModule reads the go.mod in a directory and adds its module.
func (p *project) openModule(dir string) (*module, error) {
	name := path.Join(dir, "go.mod")
	data, err := p.read(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: diag.Cause(err)}
	}
	if findings := textdiff.ConflictFindings(name, data); len(findings) > 0 {
		return nil, findings
	}
	m := &module{dir: dir, path: modfile.ModulePath(data)}
	if file, err := modfile.ParseLax(name, data, nil); err == nil {
		for _, ignore := range file.Ignore {
			m.ignore = append(m.ignore, ignore.Path)
		}
	}
	if m.path == "" {
		problem := "no module line; add one, such as: module example.com/operator"
		return nil, diag.Findings{{Position: diag.Position{File: name, Line: 1}, Problem: problem}}
	}
	p.modules = append(p.modules, m)
	return m, nil
}

// rel returns the path of a directory relative to the module's.
func (m *module) rel(dir string) string {
	if m.dir == "." {
		return dir
	}
	return strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/")
}

// ignores reports whether an ignore directive of the module's go.mod matches a directory.
func (m *module) ignores(dir string) bool {
	rel := m.rel(dir)
	for _, pattern := range m.ignore {
		if anchored, ok := strings.CutPrefix(pattern, "./"); ok {
			if rel == strings.TrimSuffix(anchored, "/") {
				return true
			}
			continue
		}
		if strings.HasSuffix("/"+rel, "/"+strings.Trim(pattern, "/")) {
			return true
		}
	}
	return false
}
