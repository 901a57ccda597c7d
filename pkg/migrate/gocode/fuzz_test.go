package gocode

import (
	"bytes"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// FuzzCode: whatever parses is rewritten into something that parses, and imports nothing twice.
func FuzzCode(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatal(err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		after := modernized(t, map[string][]byte{"go.mod": []byte("module example.com/mine\n"), "main.go": text}, nil)["main.go"]
		if bytes.Equal(after, text) {
			return
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "main.go", text, parser.SkipObjectResolution); err != nil {
			t.Fatalf("something came of a file that does not parse: %v", err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), "main.go", after, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%v\n%s", err, after)
		}
		seen := map[string]int{}
		for _, spec := range file.Imports {
			seen[localName(spec)+" "+pathOf(spec)]++
		}
		before, err := parser.ParseFile(token.NewFileSet(), "main.go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range before.Imports {
			delete(seen, localName(spec)+" "+pathOf(spec))
		}
		for what, n := range seen {
			if n > 1 {
				t.Errorf("imports %s %d times\n%s", what, n, after)
			}
		}
	})
}
