package typecheck_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A verdict is what a compiler or a type checker says about a project.
type verdict struct {
	// errors maps FILE:LINE to the messages for that line. An error without a line has the directory of its package as
	// position. Both are slash-separated and relative to the project.
	errors map[string][]string
	// files holds the Go files that were selected for this system, tests included. The value is false if all packages with
	// the file were skipped because of an error in a package that they import, or in another file that doesn't parse.
	files map[string]bool
	// imports maps the directory of each package to the directories of the project's packages that it imports, also in tests.
	imports map[string][]string
	// names maps the directory of each package to its name and import path.
	names map[string][2]string
}

// listed is a package, or a variant of it for tests, in the output of go list.
type listed struct {
	ImportPath, Dir, Name, ForTest               string
	GoFiles, CgoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports           []string
	Error                                        *listError
	DepsErrors                                   []*listError
}

type listError struct {
	ImportStack []string
	Pos, Err    string
}

// compile returns the verdict of the compiler about the packages and tests in dir. Packages of other modules are compiled
// once and cached; nothing is linked.
func compile(t *testing.T, dir string) verdict {
	t.Helper()
	args := []string{"list", "-e", "-test", "-export", "-trimpath", "-gcflags=-e",
		"-json=ImportPath,Dir,Name,ForTest,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Error,DepsErrors", "./..."}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v\n%s", dir, err, errOut.Bytes())
	}
	v := verdict{map[string][]string{}, map[string]bool{}, map[string][]string{}, map[string][2]string{}}
	var all []listed
	dirs := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(p.ImportPath, ".test") && p.Error == nil {
			continue // the generated main package
		}
		if p.Dir != "" {
			p.Dir = relative(dir, p.Dir)
		}
		all = append(all, p)
		if p.ForTest == "" {
			dirs[p.ImportPath] = p.Dir
		}
	}
	own := map[string]bool{} // errors of listed packages, which packages that import these repeat
	for _, p := range all {
		for _, e := range append(p.DepsErrors, p.Error) {
			if e != nil {
				e.Err = strings.ReplaceAll(e.Err, dir+string(filepath.Separator), "")
			}
		}
		if p.Error != nil {
			own[p.Error.Err] = true
		}
	}
	for _, p := range all {
		v.add(p, dirs, own)
	}
	return v
}

// add adds what the compiler says about a package. dirs maps import paths to directories; own holds errors of packages.
func (v verdict) add(p listed, dirs map[string]string, own map[string]bool) {
	compiled := len(p.DepsErrors) == 0 || p.Error != nil
	if p.Error != nil {
		compiled = v.addError(p)
	}
	for _, e := range p.DepsErrors {
		// The import of a package that is missing or excluded is an error of that package, which go list does not list.
		m := compileError.FindStringSubmatch(e.Pos + ": ")
		switch n := len(e.ImportStack); {
		case own[e.Err]:
		case m != nil && path.Dir(path.Clean(m[1])) == p.Dir:
			v.put(p.position(m), e.Err)
		case m == nil && n > 1 && e.ImportStack[n-2] == p.ImportPath && p.Error == nil:
			v.put(p.Dir, e.Err)
		}
	}
	files := slices.Concat(p.GoFiles, p.CgoFiles)
	if p.ForTest == "" {
		v.names[p.Dir] = [2]string{p.Name, p.ImportPath}
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if d, ok := dirs[imported]; ok {
				v.imports[p.Dir] = append(v.imports[p.Dir], d)
			}
		}
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			v.files[path.Join(p.Dir, name)] = v.files[path.Join(p.Dir, name)] || false
		}
	}
	for _, name := range files {
		if !filepath.IsAbs(name) {
			name = path.Join(p.Dir, name)
			v.files[name] = v.files[name] || compiled
		}
	}
}

var compileError = regexp.MustCompile(`^(\S+?):(\d+)(?::\d+)?: (.*)$`)

// addError adds the error of a package. It reports whether the compiler has checked the types of the package.
func (v verdict) addError(p listed) (typed bool) {
	if m := compileError.FindStringSubmatch(p.Error.Pos + ": "); m != nil {
		if path.Dir(path.Clean(m[1])) == p.Dir {
			v.put(p.position(m), p.Error.Err)
		} else {
			v.put(p.Dir, p.Error.Err) // the position is where the package is imported
		}
		return false
	}
	typed = strings.HasPrefix(p.Error.Err, "# ")
	located := false
	for line := range strings.Lines(p.Error.Err) {
		line = strings.TrimSuffix(line, "\n")
		m := compileError.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "# "):
		case m != nil:
			located = true
			v.put(p.position(m), m[3])
			typed = typed && !strings.HasPrefix(m[3], "syntax error: ")
		case !located:
			v.put(p.Dir, line)
			return false
		}
	}
	return typed
}

// position returns the position in a match of compileError. The directory of the file depends on -trimpath and on line
// directives; files of a package are in its directory.
func (p listed) position(m []string) string {
	return path.Join(p.Dir, path.Base(m[1])) + ":" + m[2]
}

func (v verdict) put(position, message string) {
	message, _, _ = strings.Cut(message, "\n")
	if !slices.Contains(v.errors[position], message) {
		v.errors[position] = append(v.errors[position], message)
	}
}

// relative returns the slash-separated path of name below dir.
func relative(dir, name string) string {
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// closure returns the directories of the project that each directory imports, directly and indirectly.
func (v verdict) closure() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for dir := range v.names {
		seen := map[string]bool{}
		for todo := []string{dir}; len(todo) > 0; {
			d := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, next := range v.imports[d] {
				if !seen[next] {
					seen[next] = true
					todo = append(todo, next)
				}
			}
		}
		all[dir] = seen
	}
	return all
}

// A workDir is a copy of a project, in which the compiler runs.
type workDir struct {
	path    string
	written map[string][]byte // the former content of changed files, nil if there was none
	made    []string          // new directories
}

func newWorkDir(t *testing.T, project string) *workDir {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "p"), os.DirFS(project))
	}
	if err != nil {
		t.Fatal(err)
	}
	return &workDir{path: filepath.Join(dir, "p"), written: map[string][]byte{}}
}

// write writes files, whose names are relative to the project.
func (w *workDir) write(files map[string][]byte) error {
	for name, data := range files {
		file := filepath.Join(w.path, filepath.FromSlash(name))
		before, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if _, ok := w.written[name]; !ok {
			w.written[name] = before
		}
		for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(dir); err == nil {
				break
			}
			w.made = append(w.made, dir)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// reset restores the project.
func (w *workDir) reset() error {
	var errs []error
	for name, before := range w.written {
		file := filepath.Join(w.path, filepath.FromSlash(name))
		if before == nil {
			errs = append(errs, os.Remove(file))
		} else {
			errs = append(errs, os.WriteFile(file, before, 0o644))
		}
	}
	for _, dir := range w.made {
		errs = append(errs, os.RemoveAll(dir))
	}
	w.written, w.made = map[string][]byte{}, nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("restoring %s: %w", w.path, err)
	}
	return nil
}
