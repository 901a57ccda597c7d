package typecheck_test

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// A seed is a file in testdata/seeds: Go files with errors that can be added to any operator. The comment has a line
// "kind: KIND", for some also "place: own package", and says what is wrong. The section "want" lists what the compiler says
// when the files are a package of their own in testdata/memcached-operator, as FILE:LINE: MESSAGE, or DIRECTORY: MESSAGE for
// errors without a line; the directory of the package is ".". The compiler doesn't get to a FILE that is "not checked". The
// section "differs" lists known differences from the type checker, with reasons in lines that start with "#".
//
// The files are a package "seed" with the path "example.com/seed", and packages below it. The name and the path are replaced
// by the types of the package in which the seed is placed.
type seed struct {
	name, file, kind string
	own              bool // doesn't work inside an existing package
	cgo              bool // needs a C compiler
	invalid          bool // has invalid syntax, so that nothing else is checked
	archive          *txtar.Archive
}

const seedPath = "example.com/seed"

var packageClause = regexp.MustCompile(`(?m)^(\x{feff}?package )seed(_test)?$`)

func readSeeds(t *testing.T) []seed {
	t.Helper()
	names, err := filepath.Glob("testdata/seeds/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var seeds []seed
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := seed{name: strings.TrimSuffix(filepath.Base(name), ".txtar"), file: name, archive: archive}
		for line := range strings.Lines(string(archive.Comment)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch {
			case key == "kind":
				s.kind = value
			case key == "place":
				s.own = value == "own package"
			}
		}
		if s.kind == "" {
			t.Errorf("%s has no kind", name)
		}
		for _, f := range archive.Files {
			s.invalid = s.invalid || strings.HasSuffix(f.Name, ".go") && !parses(f.Name, f.Data)
			s.cgo = s.cgo || strings.HasSuffix(f.Name, ".go") && bytes.Contains(f.Data, []byte("import \"C\""))
		}
		seeds = append(seeds, s)
	}
	return seeds
}

// in returns the files of the seed for the package with the name and import path in directory dir.
func (s seed) in(dir, name, importPath string) map[string][]byte {
	files := map[string][]byte{}
	for _, f := range s.archive.Files {
		if f.Name == "want" || f.Name == "differs" {
			continue
		}
		data := f.Data
		if !strings.Contains(f.Name, "/") {
			data = packageClause.ReplaceAll(data, []byte("${1}"+name+"${2}"))
		}
		if name != "seed" {
			data = bytes.ReplaceAll(data, []byte("\t\""+seedPath+"\"\n"), []byte("\tseed \""+importPath+"\"\n"))
			data = bytes.ReplaceAll(data, []byte("import \""+seedPath+"\"\n"), []byte("import seed \""+importPath+"\"\n"))
		}
		files[path.Join(dir, f.Name)] = bytes.ReplaceAll(data, []byte("\""+seedPath), []byte("\""+importPath))
	}
	return files
}

// inOwnPackage returns the files of the seed as a package of their own in a module.
func (s seed) inOwnPackage(module string) map[string][]byte {
	return s.in(s.dir(), "seed", module+"/"+s.dir())
}

// only returns what a verdict says about the seed as a package of its own.
func (s seed) only(v verdict) verdict {
	only := verdict{errors: map[string][]string{}}
	for position, messages := range v.errors {
		if position == s.dir() || strings.HasPrefix(position, s.dir()+"/") {
			only.errors[position] = messages
		}
	}
	return only
}

// importsSelf reports whether a file of the seed imports the package in which the seed is placed. A program can't be imported.
func (s seed) importsSelf() bool {
	return slices.ContainsFunc(s.archive.Files, func(f txtar.File) bool { return bytes.Contains(f.Data, []byte("\""+seedPath+"\"")) })
}

// dir returns the directory of the seed as a package of its own in a project.
func (s seed) dir() string { return path.Join("seeds", s.name) }

// want returns the recorded verdict of the compiler, with positions relative to the project.
func (s seed) want(t *testing.T) verdict {
	t.Helper()
	v := verdict{errors: map[string][]string{}, files: map[string]bool{}}
	text, ok := s.section("want")
	if !ok {
		t.Errorf("%s has no section want; run the test with -update", s.file)
	}
	for line := range strings.Lines(text) {
		position, message, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		position = path.Join(s.dir(), position)
		switch {
		case !ok:
			t.Errorf("%s: want: %q has no message", s.file, line)
		case message == notChecked:
			v.files[position] = false
		default:
			v.put(position, message)
		}
	}
	return v
}

const notChecked = "not checked"

func (s seed) section(name string) (string, bool) {
	i := slices.IndexFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return string(s.archive.Files[i].Data), true
}

// differs returns the lines about known differences.
func (s seed) differs() []string {
	text, _ := s.section("differs")
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return line == "" || strings.HasPrefix(line, "#") })
}

// record writes what the compiler says into the section want.
func (s seed) record(v verdict) error {
	var lines []string
	for position, messages := range s.only(v).errors {
		file, line, _ := strings.Cut(position, ":")
		for _, message := range messages {
			at := relative(s.dir(), file)
			if line != "" {
				at += ":" + line
			}
			lines = append(lines, fmt.Sprintf("%s: %s\n", at, message))
		}
	}
	for file, typed := range v.files {
		if !typed && strings.HasPrefix(file, s.dir()+"/") {
			lines = append(lines, fmt.Sprintf("%s: %s\n", relative(s.dir(), file), notChecked))
		}
	}
	slices.SortFunc(lines, byPosition)
	want := txtar.File{Name: "want", Data: []byte(strings.Join(lines, ""))}
	files := slices.Clone(s.archive.Files)
	if i := slices.IndexFunc(files, func(f txtar.File) bool { return f.Name == "want" }); i >= 0 {
		files[i] = want
	} else {
		files = append(files, want)
	}
	return os.WriteFile(s.file, txtar.Format(&txtar.Archive{Comment: s.archive.Comment, Files: files}), 0o644)
}

// byPosition orders lines that begin with FILE:LINE or with a name.
func byPosition(a, b string) int {
	return strings.Compare(padLine(a), padLine(b))
}

var lineNumber = regexp.MustCompile(`^([^: ]+):(\d+)`)

func padLine(s string) string {
	if m := lineNumber.FindStringSubmatch(s); m != nil {
		return fmt.Sprintf("%s:%8s%s", m[1], m[2], s[len(m[0]):])
	}
	return s
}
