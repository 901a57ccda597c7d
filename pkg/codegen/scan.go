package codegen

import (
	"bytes"
	"errors"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// project is the source of a module as it will be: the files on disk with the overlay laid over them.
type project struct {
	root    string
	overlay map[string][]byte
	// under lists the names that the overlay adds to each folder, folders with a trailing slash.
	under   map[string]map[string]bool
	context build.Context

	packages []*pkg // sorted by module, then by import path
	byPath   map[string]*pkg
	modules  []*module // the root module first
}

// module is the root module or one nested in it, which controller-gen's ./... reaches too.
type module struct {
	dir    string // slash-separated, relative to the root
	path   string
	ignore []string
}

// pkg is a folder of Go files that the pattern ./... of its module matches.
type pkg struct {
	module *module
	dir    string // slash-separated, relative to the root
	path   string // the import path
	files  []*sourceFile
}

// sourceFile is a Go file that the build constraints select; generated copy methods are not among them.
type sourceFile struct {
	name    string // slash-separated, relative to the root
	content []byte
	digest  digest
}

// newProject reads the Go files of a module and of the modules nested in it.
func newProject(root string, overlay map[string][]byte, ctx build.Context) (*project, error) {
	p := &project{root: root, overlay: map[string][]byte{}, under: map[string]map[string]bool{}, byPath: map[string]*pkg{}}
	for name, content := range overlay {
		name = path.Clean(name)
		if path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
			return nil, fmt.Errorf("overlay file %s is not below the module's root", name)
		}
		p.overlay[name] = content
		if content == nil {
			continue
		}
		for entry := name; entry != "."; {
			dir, suffix := path.Dir(entry), ""
			if entry != name {
				suffix = "/"
			}
			if p.under[dir] == nil {
				p.under[dir] = map[string]bool{}
			}
			p.under[dir][path.Base(entry)+suffix] = true
			entry = dir
		}
	}
	p.context = ctx
	p.context.OpenFile = func(name string) (io.ReadCloser, error) {
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		data, err := p.read(filepath.ToSlash(rel))
		return io.NopCloser(bytes.NewReader(data)), err
	}
	if _, err := p.read("go.mod"); err != nil {
		return nil, fmt.Errorf("reading go.mod: %w; generate in the folder that holds the project's go.mod", reason(err))
	}
	if err := p.walk(".", nil, true); err != nil {
		if findings, ok := errors.AsType[Findings](err); ok {
			return nil, findings
		}
		return nil, fmt.Errorf("reading the module's source: %w", err)
	}
	slices.SortStableFunc(p.packages, func(a, b *pkg) int {
		if c := slices.Index(p.modules, a.module) - slices.Index(p.modules, b.module); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	for _, pkg := range p.packages {
		if p.byPath[pkg.path] == nil {
			p.byPath[pkg.path] = pkg
		}
	}
	return p, nil
}

// abs is the path of a file of the project on disk.
func (p *project) abs(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

// read returns the content of a file.
func (p *project) read(name string) ([]byte, error) {
	if content, ok := p.overlay[name]; ok {
		if content == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return content, nil
	}
	// A pipe might never end.
	if info, err := os.Stat(p.abs(name)); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is not a regular file")}
	}
	return os.ReadFile(p.abs(name))
}

// list returns the names in a folder, sorted, those of folders with a trailing slash.
func (p *project) list(dir string) ([]string, error) {
	entries, err := os.ReadDir(p.abs(dir))
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && p.under[dir] != nil) {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: reason(err)}
	}
	names := make([]string, 0, len(entries)+len(p.under[dir]))
	for _, entry := range entries {
		name, mode := entry.Name(), entry.Type()
		if content, ok := p.overlay[path.Join(dir, name)]; ok && content == nil || p.under[dir][name] {
			continue
		}
		if mode&fs.ModeSymlink != 0 {
			// The go command follows links to files but not to folders.
			info, err := os.Stat(p.abs(path.Join(dir, name)))
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
		} else if mode.IsDir() {
			name += "/"
			if p.under[dir][name] {
				continue
			}
		} else if !mode.IsRegular() {
			continue
		}
		names = append(names, name)
	}
	for name := range p.under[dir] {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// walk reads a folder and those below it. Where matched is false the folder is none that ./... matches,
// and is only searched for nested modules, as controller-gen does.
func (p *project) walk(dir string, m *module, matched bool) error {
	names, err := p.list(dir)
	if err != nil {
		if dir != "." {
			return nil // unreadable folders hold no package
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
	here := &pkg{module: m, dir: dir}
	for _, name := range names {
		full := path.Join(dir, name)
		if sub, isDir := strings.CutSuffix(name, "/"); isDir {
			if strings.HasPrefix(sub, ".") || full == path.Join(m.dir, "vendor") {
				continue
			}
			if err := p.walk(full, m, matched && !strings.HasPrefix(sub, "_") && sub != "testdata" && path.Base(dir) != "vendor"); err != nil {
				return err
			}
			continue
		}
		if !matched || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue
		}
		content, err := p.read(full)
		if err != nil {
			return &fs.PathError{Op: "open", Path: full, Err: reason(err)}
		}
		selected, err := p.context.MatchFile(p.abs(dir), name)
		if err != nil || selected {
			// A file whose head cannot be read is kept for the parser to complain about.
			here.files = append(here.files, &sourceFile{name: full, content: content, digest: digestOf(content)})
		}
	}
	if len(here.files) > 0 {
		here.path = path.Join(m.path, m.rel(dir))
		p.packages = append(p.packages, here)
	}
	return nil
}

// openModule notes the module whose go.mod lies in a folder.
func (p *project) openModule(dir string) (*module, error) {
	name := path.Join(dir, "go.mod")
	data, err := p.read(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: reason(err)}
	}
	if findings := conflictFindings(name, data); len(findings) > 0 {
		return nil, findings
	}
	m := &module{dir: dir, path: modfile.ModulePath(data)}
	if file, err := modfile.ParseLax(name, data, nil); err == nil {
		for _, ignore := range file.Ignore {
			m.ignore = append(m.ignore, ignore.Path)
		}
	}
	if m.path == "" {
		return nil, Findings{{File: name, Line: 1, Message: "no module line: add one, as in module example.com/operator"}}
	}
	p.modules = append(p.modules, m)
	return m, nil
}

// rel is a folder's path relative to the module's.
func (m *module) rel(dir string) string {
	if m.dir == "." {
		return dir
	}
	return strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/")
}

// ignores reports whether an ignore directive of the module's go.mod covers a folder.
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

// local is the package of this project with an import path, or nil.
func (p *project) local(importPath string) *pkg { return p.byPath[importPath] }

// reason is the error below a path error, which would show a path of this machine.
func reason(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
