// Package calls finds the calls of controller-gen that generate the code and manifests of a project: in its settings, its
// Makefile, its go:generate lines and its scripts. Find returns the calls; FindBundle returns the commands that generate the
// bundle. Both only read files and start no process.
package calls

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/makefile"
)

// Files are the files of a project.
type Files interface {
	// Root returns the absolute path of the project's directory.
	Root() string
	// ReadFile returns the content of a file by its slash-separated path relative to Root. The error wraps fs.ErrNotExist if
	// the file does not exist.
	ReadFile(name string) ([]byte, error)
	// Walk returns the sorted files in a directory and its subdirectories, except those that skip rejects.
	Walk(dir string, skip func(name string) bool) ([]string, error)
}

// Found is the result of Find.
type Found struct {
	// Calls are the calls in the order of the project. Nil means that there are none, or that Operon makes the calls of the
	// scaffold.
	Calls []codegen.Call
	// Foreign reports whether a call runs controller-gen itself, so that the project selects its version, and not Operon.
	Foreign bool
	// Unfollowed are the generators of calls that aren't followed, because they can't be evaluated or come from other sources.
	Unfollowed codegen.Generators
	// Notes describe commands that cannot be reproduced, each after FILE:LINE.
	Notes []string
	// Findings are calls that make never runs.
	Findings diag.Findings
}

// Find returns the calls of a project, from the first of these sources that contains any:
//   - generate.calls in .operon/config.yaml
//   - the targets manifests and generate of the Makefile, with their prerequisites and the scripts and go:generate lines
//     that they run, and then its other targets for the remaining generators
//   - go:generate lines
//   - scripts in hack
//
// It returns an error only if the settings are invalid or a file cannot be read.
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
	found = &Found{Calls: f.calls, Foreign: f.foreign, Notes: f.notes, Findings: f.findings, Unfollowed: f.found | f.unfollowed}
	if len(f.calls) > 0 && found.Unfollowed != codegen.All {
		other := newFinder(files)
		other.goGenerate(".")
		other.scripts()
		found.Unfollowed |= other.found
	}
	return found, nil
}

// newFinder returns a finder without calls.
func newFinder(files Files) *finder {
	return &finder{
		files: files, root: strings.ReplaceAll(files.Root(), `\`, "/"), noted: map[string]bool{},
		environment: map[string]string{}, overrides: map[string]string{}, makefiles: map[string]*makefile.Makefile{},
	}
}

// A finder collects calls.
type finder struct {
	files Files
	root  string // with slashes
	calls []codegen.Call
	notes []string
	// found are the generators of all calls, even if they can't be evaluated; unfollowed are the generators of targets that aren't followed.
	found, unfollowed codegen.Generators
	findings          diag.Findings
	// noted are the lines and scripts with a note of noteCommand.
	noted map[string]bool
	// scaffolded reports whether the project runs the generate command of Operon, and foreign whether it runs controller-gen
	// itself.
	scaffolded, foreign bool
	err                 error
	// depth is the number of nested makes and scripts around the current one, and nestings counts all of them.
	depth, nestings int
	// environment and overrides are variables that a call of make passes on: those before the command, and its arguments.
	environment, overrides map[string]string
	// bundle receives the commands that generate a bundle; nil finds calls of controller-gen.
	bundle *Bundle
	// describe replaces unresolved parts of a text by their source in the makefile; nil outside of makefiles.
	describe func(string) string
	// done are the commands of the Makefile that were followed for other targets, which need them, too; nil follows all.
	done map[makefile.Command]bool
	// makefiles are the makefiles that other ones run, by directory, name and variables.
	makefiles map[string]*makefile.Makefile
}

const (
	maxDepth = 8
	// maxNestings limits makes and scripts that run each other repeatedly.
	maxNestings = 500
)

// mayNest reports whether another make or script can be evaluated.
func (f *finder) mayNest() bool { return f.depth <= maxDepth && f.nestings < maxNestings }

// addNote adds a note, unless it already exists.
func (f *finder) addNote(at diag.Position, format string, args ...any) {
	text := fmt.Sprintf("%s: %s", at, fmt.Sprintf(format, args...))
	if !slices.Contains(f.notes, text) {
		f.notes = append(f.notes, text)
	}
}

// read returns the content of a file, or nil if it does not exist.
func (f *finder) read(name string) []byte {
	data, err := f.files.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && f.err == nil {
		f.err = fmt.Errorf("reading %s: %w", name, err)
	}
	return data
}

// options returns the options for makefiles in a directory.
func (f *finder) options(dir string) makefile.Options {
	abs := path.Join(f.root, dir)
	variables := maps.Clone(f.environment)
	variables["PWD"] = abs
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
		Variables: variables,
		Overrides: maps.Clone(f.overrides),
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
		f.dead(m)
	}
	if len(f.calls) == 0 && !f.scaffolded {
		for _, p := range m.Problems {
			f.addNote(p.Position, "%s", p.Problem)
		}
	}
	return f.err
}

// makefileNames returns the names of the makefiles that make reads without -f.
func makefileNames() []string { return []string{"GNUmakefile", "makefile", "Makefile"} }

// evaluate evaluates the makefile that make reads without -f. It returns nil if there is none.
func (f *finder) evaluate() (*makefile.Makefile, error) {
	for _, name := range makefileNames() {
		if f.read(name) != nil {
			return makefile.Evaluate(name, f.options("."))
		}
	}
	return nil, nil
}

// targets finds the calls of targets, and adds notes about the commands after them.
func (f *finder) targets(m *makefile.Makefile, dir string, names ...string) {
	if f.depth > maxDepth {
		return
	}
	f.depth++
	describe := f.describe
	defer func() { f.depth, f.describe = f.depth-1, describe }()
	f.describe = m.Describe
	names = slices.DeleteFunc(names, func(name string) bool { return !m.HasTarget(name) })
	var calling []string
	for _, command := range f.recipes(m, names) {
		if f.done != nil && f.depth == 1 {
			if f.done[command] {
				continue
			}
			f.done[command] = true
		}
		s := &shell{finder: f, dir: dir, at: command.Position, variables: map[string]string{}}
		s.bash = strings.Contains(path.Base(command.Shell), "bash")
		if dir != "." {
			s.at.File = path.Join(dir, s.at.File)
		}
		s.isAfterCall = slices.ContainsFunc(calling, func(target string) bool { return m.DependsOn(command.Target, target) })
		before := len(f.calls)
		s.run(command.Text)
		if len(f.calls) > before {
			calling = append(calling, command.Target)
		}
	}
}

// goGenerateLine matches a go:generate line.
var goGenerateLine = lazyregexp.New(`(?m)^//go:generate[ \t]+(.*?)\r?$`)

// goGenerate finds the calls of go:generate lines in a directory and its subdirectories.
func (f *finder) goGenerate(dir string) {
	names, err := f.files.Walk(dir, isSkipped)
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
			at := diag.Position{File: name, Line: 1 + bytes.Count(data[:m[0]], []byte("\n"))}
			s := &shell{finder: f, dir: path.Dir(name), at: at}
			if args, ok := s.controllerGen(goGenerateWords(string(data[m[2]:m[3]]))); ok {
				s.foreign = true
				s.call(args)
			}
		}
	}
}

// goGenerateWords splits a go:generate line into words. A word that starts with a double quote is a Go string.
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

// isSkipped reports whether a directory contains no source of the project.
func isSkipped(dir string) bool {
	base := path.Base(dir)
	return base == "vendor" || base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_'
}

// scripts finds the calls of the scripts in hack.
func (f *finder) scripts() {
	names, err := f.files.Walk("hack", isSkipped)
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
