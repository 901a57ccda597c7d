// Package cases reads recorded runs of operator-sdk 1.42.3, which tests repeat with Operon.
//
// A case is an archive GROUP/NAME.txtar. Its comment describes the case. Its files are:
//
//	cmd         the arguments of each command, one command per line; "! " precedes one that failed or did not end
//	env         variables to add to the environment, NAME=VALUE, one per line
//	stdin       the standard input, from a pipe
//	stdin-file  the standard input, from a regular file
//	stdout-N    the standard output of command N, where a test compares it
//	base        GROUP/NAME of the case whose working directory this case starts with; "- FILE" lines remove files from it
//	tree/       the working directory, or what differs from that of the base
//	expected/   the files that operator-sdk created or changed in the working directory
//	ours/       the files of expected/ that Operon writes differently, and those that only Operon writes
//	omitted     the files of tree/ and expected/ that do not exist after a run of Operon, one per line
//
// An archive holds text only. Below the directories, a name that ends in a slash is an empty directory, a file
// NAME.base64 holds the bytes of NAME, and a file that starts with "#!" is executable. A file that ends without a
// newline gets one.
package cases

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// A Case is a recorded run of operator-sdk.
type Case struct {
	Group, Name string
	Commands    []Command
	// Env holds the variables to add to the environment.
	Env []string

	files map[string]string // by their names in the archive, with the tree of the base
	file  string
}

// A Command is one command line of a case.
type Command struct {
	Args []string
	// Failed is true if operator-sdk exited with a code other than 0 or did not end.
	Failed bool
	// Stdout is empty where no test compares it.
	Stdout string
}

// All returns the cases of a group, sorted by name.
func All(group string) ([]*Case, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, group, "*.txtar"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no cases in %s", filepath.Join(dir, group))
	}
	var all []*Case
	for _, file := range files {
		c, err := read(group, file)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// Read returns the case GROUP/NAME.
func Read(name string) (*Case, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, filepath.FromSlash(name)+".txtar")
	return read(filepath.Base(filepath.Dir(file)), file)
}

// Dir returns the directory of the cases, testdata/cases in the root of the module.
func Dir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		cases := filepath.Join(dir, "testdata", "cases", "cases.go")
		if _, err := os.Stat(cases); err == nil {
			return filepath.Dir(cases), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("testdata/cases not found in a parent directory")
		}
		dir = parent
	}
}

func read(group, file string) (*Case, error) {
	c := &Case{Group: group, Name: strings.TrimSuffix(filepath.Base(file), ".txtar"), files: map[string]string{}, file: file}
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return nil, err
	}
	if err := c.load(archive); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// known matches the names of files that a case may hold: a file that no test reads is an error.
var known = regexp.MustCompile(`^(cmd|env|stdin|stdin-file|stdout-\d+|base|omitted|(tree|expected|ours)/.+)$`)

func (c *Case) load(archive *txtar.Archive) error {
	for _, f := range archive.Files {
		name, text := f.Name, string(f.Data)
		if !known.MatchString(name) {
			return fmt.Errorf("%s: unknown file", name)
		}
		if plain, ok := strings.CutSuffix(name, ".base64"); ok {
			data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			name, text = plain, string(data)
		}
		if _, ok := c.files[name]; ok {
			return fmt.Errorf("%s: duplicate file", name)
		}
		c.files[name] = text
	}
	c.Env = lines(c.files["env"])
	for i, line := range lines(c.files["cmd"]) {
		args, failed := strings.CutPrefix(line, "! ")
		c.Commands = append(c.Commands, Command{fields(args), failed, c.files[fmt.Sprintf("stdout-%d", i+1)]})
	}
	if len(c.Commands) == 0 {
		return errors.New("cmd: no command")
	}
	for name := range c.files {
		if n, ok := strings.CutPrefix(name, "stdout-"); ok {
			if i, err := strconv.Atoi(n); err != nil || i < 1 || i > len(c.Commands) {
				return fmt.Errorf("%s: no command %s", name, n)
			}
		}
	}
	return c.addBase(lines(c.files["base"]))
}

// addBase adds the files of the base to the tree, apart from those that "- FILE" lines remove.
func (c *Case) addBase(spec []string) error {
	if len(spec) == 0 {
		return nil
	}
	base, err := Read(spec[0])
	if err != nil {
		return err
	}
	files := base.Files("tree")
	for _, line := range spec[1:] {
		name, ok := strings.CutPrefix(line, "- ")
		if _, exists := files[name]; !ok || !exists {
			return fmt.Errorf("base: %q removes no file of %s", line, spec[0])
		}
		delete(files, name)
	}
	for name, text := range files {
		if _, ok := c.files["tree/"+name]; !ok {
			c.files["tree/"+name] = text
		}
	}
	return nil
}

// Files returns the contents of the files below a directory of the archive, by slash-separated names.
func (c *Case) Files(dir string) map[string]string {
	files := map[string]string{}
	for name, text := range c.files {
		if rel, ok := strings.CutPrefix(name, dir+"/"); ok && rel != "" && !strings.HasSuffix(rel, "/") {
			files[rel] = text
		}
	}
	return files
}

// FS returns a directory of the archive as a file system.
func (c *Case) FS(dir string) fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range c.Files(dir) {
		files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		if strings.HasPrefix(text, "#!") {
			files[name].Mode = 0o755
		}
	}
	for name := range c.files {
		rel, ok := strings.CutPrefix(name, dir+"/")
		if rel, isDir := strings.CutSuffix(rel, "/"); ok && isDir {
			files[rel] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
		}
	}
	return files
}

// Stdin returns the standard input, and whether it is a pipe or a regular file.
func (c *Case) Stdin() (text string, pipe, file bool) {
	if text, file = c.files["stdin-file"]; file {
		return text, false, true
	}
	text, pipe = c.files["stdin"]
	return text, pipe, false
}

// Recorded returns the working directory after the run of operator-sdk.
func (c *Case) Recorded() map[string]string {
	files := c.Files("tree")
	maps.Copy(files, c.Files("expected"))
	return files
}

// Want returns the working directory after a run of Operon.
func (c *Case) Want() map[string]string {
	files := c.Recorded()
	maps.Copy(files, c.Files("ours"))
	for _, name := range c.omitted() {
		delete(files, name)
	}
	return files
}

// Differs reports whether Operon leaves other files behind than operator-sdk did.
func (c *Case) Differs() bool { return len(c.Files("ours")) > 0 || len(c.omitted()) > 0 }

// Redundant returns the files of ours/ that operator-sdk wrote with the same content, and the omitted files that
// operator-sdk did not leave behind. The function same compares two contents.
func (c *Case) Redundant(same func(recorded, ours string) bool) []string {
	recorded := c.Recorded()
	var names []string
	for name, ours := range c.Files("ours") {
		if text, ok := recorded[name]; ok && same(text, ours) {
			names = append(names, "ours/"+name)
		}
	}
	for _, name := range c.omitted() {
		if _, ok := recorded[name]; !ok {
			names = append(names, "omitted: "+name)
		}
	}
	slices.Sort(names)
	return names
}

func (c *Case) omitted() []string { return lines(c.files["omitted"]) }

// Update rewrites ours/ and omitted in the archive such that Want returns the files of got, but for differences that
// same does not report.
func (c *Case) Update(got map[string]string, same func(recorded, got string) bool) error {
	archive, err := txtar.ParseFile(c.file)
	if err != nil {
		return err
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool {
		return strings.HasPrefix(f.Name, "ours/") || f.Name == "omitted"
	})
	recorded := c.Recorded()
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if text, ok := recorded[name]; !ok || !same(text, got[name]) {
			archive.Files = append(archive.Files, txtar.File{Name: "ours/" + name, Data: []byte(got[name])})
		}
		delete(recorded, name)
	}
	if len(recorded) > 0 {
		omitted := strings.Join(slices.Sorted(maps.Keys(recorded)), "\n") + "\n"
		archive.Files = append(archive.Files, txtar.File{Name: "omitted", Data: []byte(omitted)})
	}
	if err := os.WriteFile(c.file, txtar.Format(archive), 0o644); err != nil {
		return err
	}
	updated, err := read(c.Group, c.file)
	if err == nil {
		*c = *updated
	}
	return err
}

func lines(text string) []string {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

var field = regexp.MustCompile(`'([^']*)'|(\S+)`)

// fields splits a command line at spaces outside of single quotes.
func fields(line string) []string {
	var all []string
	for _, m := range field.FindAllStringSubmatch(line, -1) {
		all = append(all, m[1]+m[2])
	}
	return all
}
