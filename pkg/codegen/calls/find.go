// Package calls finds the calls of controller-gen that a project makes to generate its code and manifests: in its settings,
// its Makefile, its go:generate lines and its scripts. It reads these files and starts no process.
package calls

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/makefile"
)

// Files are the files of a project.
type Files interface {
	// Root returns the absolute path of the project's directory.
	Root() string
	// ReadFile returns the content of a file by its slash-separated path relative to Root. The error wraps fs.ErrNotExist where
	// there is none.
	ReadFile(name string) ([]byte, error)
	// Walk returns the files below a directory, sorted, without those in directories that skip names.
	Walk(dir string, skip func(name string) bool) ([]string, error)
}

// Found is what Find returns.
type Found struct {
	// Calls are those that were found, in the order of the project. Nil means that the project makes none, or those of the
	// scaffold through Operon.
	Calls []codegen.Call
	// Foreign reports whether some call runs controller-gen itself, so that its version is the project's choice, and not the one
	// in Operon.
	Foreign bool
	// Notes describe what cannot be reproduced, each starting with FILE:LINE.
	Notes []string
}

// Find returns the calls of a project, from the first of these sources that has any:
//   - generate.calls in .operon/config.yaml
//   - the targets manifests and generate of the Makefile, with their prerequisites, the scripts and go:generate lines that
//     they run, and then its other targets for the generators that are still missing
//   - go:generate lines
//   - scripts in hack
//
// It fails only where the settings are invalid or a file cannot be read.
func Find(files Files) (*Found, error) {
	found, err := readConfig(files)
	if err != nil || found != nil {
		return found, err
	}
	f := newFinder(files)
	if err := f.makefile(); err != nil {
		return nil, err
	}
	if len(f.calls) == 0 && !f.scaffolded {
		f.goGenerate(".")
	}
	if len(f.calls) == 0 && !f.scaffolded {
		f.scripts()
	}
	if f.err != nil {
		return nil, f.err
	}
	return &Found{Calls: f.calls, Foreign: f.foreign, Notes: f.notes}, nil
}

func newFinder(files Files) *finder {
	return &finder{files: files, root: strings.ReplaceAll(files.Root(), `\`, "/"), leftOut: map[string]bool{}}
}

// finder collects calls.
type finder struct {
	files Files
	root  string // with slashes
	calls []codegen.Call
	notes []string
	// have are the generators of all calls, of those that cannot be evaluated as well.
	have codegen.Generators
	// leftOut are the lines and scripts that a note is about.
	leftOut map[string]bool
	// scaffolded reports whether the project runs the generate command of Operon, and foreign whether it runs controller-gen
	// itself.
	scaffolded, foreign bool
	err                 error
	depth               int
	// describe replaces what the makefile could not resolve by its source; it is nil outside of makefiles.
	describe func(string) string
}

func (f *finder) note(at makefile.Position, format string, args ...any) {
	text := fmt.Sprintf("%s: %s", at, fmt.Sprintf(format, args...))
	if !slices.Contains(f.notes, text) {
		f.notes = append(f.notes, text)
	}
}

// read returns a file, nil where there is none.
func (f *finder) read(name string) []byte {
	data, err := f.files.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && f.err == nil {
		f.err = fmt.Errorf("reading %s: %w", name, err)
	}
	return data
}

// options are those for the makefiles in a directory.
func (f *finder) options(dir string) makefile.Options {
	abs := path.Join(f.root, dir)
	return makefile.Options{
		Dir: abs,
		Read: func(name string) ([]byte, error) {
			if path.IsAbs(name) {
				return nil, fs.ErrNotExist
			}
			if name = path.Join(dir, name); name == ".." || strings.HasPrefix(name, "../") {
				return nil, fs.ErrNotExist
			}
			return f.files.ReadFile(name)
		},
		Glob: func(pattern string) []string {
			names, err := f.files.Walk(path.Join(dir, path.Dir(pattern)), nil)
			if err != nil {
				return nil
			}
			var matched []string
			for _, name := range names {
				name = strings.TrimPrefix(name, dir+"/")
				if ok, err := path.Match(pattern, name); ok && err == nil {
					matched = append(matched, name)
				}
			}
			return matched
		},
		Shell: func(command string) (string, bool) {
			s := &shell{finder: f, dir: dir, variables: map[string]string{}}
			output := s.substitute(command)
			return output, !strings.Contains(output, unresolvedStart)
		},
		Variables: map[string]string{"PWD": abs},
	}
}

// makefile finds the calls of the Makefile.
func (f *finder) makefile() error {
	m, err := f.evaluate()
	if m == nil || err != nil {
		return errors.Join(err, f.err)
	}
	f.targets(m, ".", "manifests", "generate")
	if !f.scaffolded {
		f.missing(m)
	}
	if len(f.calls) == 0 && !f.scaffolded {
		for _, p := range m.Problems {
			f.note(p.Position, "%s", p.Message)
		}
	}
	return f.err
}

// evaluate evaluates the makefile that make reads without -f. It returns nil where there is none.
func (f *finder) evaluate() (*makefile.Makefile, error) {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if f.read(name) != nil {
			return makefile.Evaluate(name, f.options("."))
		}
	}
	return nil, nil
}

// targets finds the calls of targets, and notes what follows a call there.
func (f *finder) targets(m *makefile.Makefile, dir string, names ...string) {
	if f.depth > 8 {
		return
	}
	f.depth++
	describe := f.describe
	defer func() { f.depth, f.describe = f.depth-1, describe }()
	f.describe = m.Describe
	names = slices.DeleteFunc(names, func(name string) bool { return !m.HasTarget(name) })
	var calling []string
	for _, command := range m.Commands(names...) {
		s := &shell{finder: f, dir: dir, at: command.Position, variables: map[string]string{}, bash: strings.Contains(path.Base(command.Shell), "bash")}
		if dir != "." {
			s.at.File = path.Join(dir, s.at.File)
		}
		s.follows = slices.ContainsFunc(calling, func(target string) bool { return m.DependsOn(command.Target, target) })
		before := len(f.calls)
		s.run(command.Text)
		if len(f.calls) > before {
			calling = append(calling, command.Target)
		}
	}
}

// missing finds calls in the other targets of the Makefile, for the generators that no call runs yet.
func (f *finder) missing(m *makefile.Makefile) {
	for _, target := range m.Targets() {
		if f.have == codegen.All {
			return
		}
		other := newFinder(f.files)
		other.targets(m, ".", target)
		for _, call := range other.calls {
			if generators, err := call.Generators(); err == nil && generators&f.have == 0 {
				f.calls = append(f.calls, call)
				f.have |= generators & codegen.All
				f.foreign = f.foreign || other.foreign
			}
		}
	}
}

// goGenerateLine matches a go:generate line.
var goGenerateLine = regexp.MustCompile(`(?m)^//go:generate[ \t]+(.*?)\r?$`)

// goGenerate finds the calls of go:generate lines below a directory.
func (f *finder) goGenerate(dir string) {
	names, err := f.files.Walk(dir, skipped)
	if err != nil {
		f.err = errors.Join(f.err, err)
		return
	}
	for _, name := range names {
		if path.Ext(name) != ".go" {
			continue
		}
		data := f.read(name)
		if !bytes.Contains(data, []byte("controller-gen")) {
			continue
		}
		for _, m := range goGenerateLine.FindAllSubmatchIndex(data, -1) {
			at := makefile.Position{File: name, Line: 1 + bytes.Count(data[:m[0]], []byte("\n"))}
			s := &shell{finder: f, dir: path.Dir(name), at: at}
			if args, ok := s.controllerGen(goGenerateWords(string(data[m[2]:m[3]]))); ok {
				s.foreign = true
				s.call(args)
			}
		}
	}
}

// goGenerateWords divides a go:generate line into words. A word that starts with a double quote is a Go string.
func goGenerateWords(line string) []string {
	var words []string
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		if quoted, err := strconv.QuotedPrefix(line); err == nil && line[0] == '"' {
			word, _ := strconv.Unquote(quoted)
			words, line = append(words, word), line[len(quoted):]
			continue
		}
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		words, line = append(words, line[:end]), line[end:]
	}
	return words
}

// skipped reports whether a directory holds no source of the project.
func skipped(dir string) bool {
	base := path.Base(dir)
	return base == "vendor" || base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_'
}

// scripts finds the calls of the scripts in hack.
func (f *finder) scripts() {
	names, err := f.files.Walk("hack", skipped)
	if err != nil {
		f.err = errors.Join(f.err, err)
		return
	}
	for _, name := range names {
		if data := f.read(name); path.Ext(name) == ".sh" && bytes.Contains(data, []byte("controller-gen")) {
			s := &shell{finder: f, dir: ".", variables: map[string]string{}}
			s.script(name, nil)
		}
	}
}
