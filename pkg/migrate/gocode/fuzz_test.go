package gocode

import (
	"bytes"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/gosource"
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
		before, err := gosource.Parse("main.go", text)
		if err != nil {
			t.Fatalf("changed a file that is not valid Go: %v", err)
		}
		file, err := gosource.Parse("main.go", after)
		if err != nil {
			t.Fatalf("the result is not valid Go: %v\n%s", err, after)
		}
		imports := map[string]int{}
		for _, spec := range file.AST.Imports {
			imports[file.ImportName(spec)+" "+gosource.ImportPath(spec)]++
		}
		for _, spec := range before.AST.Imports {
			delete(imports, before.ImportName(spec)+" "+gosource.ImportPath(spec))
		}
		for spec, n := range imports {
			if n > 1 {
				t.Errorf("import %s occurs %d times in\n%s", spec, n, after)
			}
		}
	})
}
