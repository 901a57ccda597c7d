package cmd_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// avoided lists words and phrases that the project does not use, as regular expressions, with what to write instead.
// Only those belong here that have no other meaning in this code base.
var avoided = []struct{ pattern, instead string }{
	{`tells? whether`, "reports whether"},
	{`tells?`, "report, print, detect, distinguish"},
	{`says?`, "state, print, report, describe"},
	{`folders?`, "directory"},
	{`(a|one) person`, "a user"},
	{`(somebody|someone|whoever)`, "a user, another process"},
	{`today's`, "current"},
	{`what there is`, "the existing objects"},
	{`(is|are) no valid`, "is not a valid"},
	{`is no (reference|name|path|version|number|digest)`, "is not a valid reference"},
	{`can be no`, "is not a valid"},
	{`leads? to`, "redirects to, resolves to, causes"},
	{`stands? in`, "is written in, replaces"},
	{`hopeless`, "permanent failure"},
	{`twins?`, "pair"},
	{`elsewhere`, "remote, in another place"},
	{`greets?`, "connect"},
	{`alike`, "equally, the same"},
	{`brings?`, "fetch, apply, add, update"},
	{`knows`, "supports, recognizes"},
	{`remembers?`, "record"},
	{`forgets?`, "remove"},
	{`the world`, "cluster, environment"},
	{`licences?`, "license"},
	{`(behavi|col|fav|hon|neighb)our(s|ed|ing|able|ite)?`, "the US spelling"},
	{`(initiali|normali|recogni|organi|seriali|synchroni|minimi|optimi|summari|authori)s(e|ed|es|ing|ation)`, "the US spelling"},
}

const maxLines = 350

// jsonTag matches the tag of a struct field, which is part of a file format.
var jsonTag = regexp.MustCompile("`json:[^`]*`")

// TestLanguage checks Go files other than tests, templates and Markdown files for words that the project avoids.
func TestLanguage(t *testing.T) {
	t.Parallel()
	patterns := make([]string, len(avoided))
	for i, word := range avoided {
		patterns[i] = word.pattern
	}
	anyOf := regexp.MustCompile(`(?i)\b(` + strings.Join(patterns, "|") + `)\b`)
	for _, file := range sourceFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for i, line := range bytes.Split(readSource(t, file), []byte("\n")) {
			if match := string(anyOf.Find(jsonTag.ReplaceAll(line, nil))); match != "" {
				t.Errorf("%s:%d: %q; write %s", file, i+1, match, replacement(match))
			}
		}
	}
}

// TestFileLengths checks that no Go file in cmd and pkg, tests excepted, has more than maxLines lines.
func TestFileLengths(t *testing.T) {
	t.Parallel()
	for _, file := range sourceFiles(t) {
		if path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || !strings.HasPrefix(file, "cmd/") && !strings.HasPrefix(file, "pkg/") {
			continue
		}
		if lines := bytes.Count(readSource(t, file), []byte("\n")); lines > maxLines {
			t.Errorf("%s has %d lines; split it, at most %d are allowed", file, lines, maxLines)
		}
	}
}

// replacement returns what to write instead of an avoided word.
func replacement(match string) string {
	for _, word := range avoided {
		if regexp.MustCompile(`(?i)^` + word.pattern + `$`).MatchString(match) {
			return word.instead
		}
	}
	return "something else"
}

// sourceFiles returns the paths of Go files, templates and Markdown files of the module, relative to its root and sorted.
// testdata is left out.
func sourceFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base == "testdata" || base == "bin" || base != "." && strings.HasPrefix(base, ".") && !strings.HasPrefix(name, "templates/") {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains([]string{".go", ".md", ".tmpl"}, path.Ext(name)) && name != "cmd/language_test.go" {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// readSource reads a file by its path relative to the module's root.
func readSource(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
