package gocode

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// suitesOf is a directory of webhook suites of kubebuilder, to write suites.txt.
var suitesOf = flag.String("gocode.suites", "", "directory of suites to record")

// TestRecordSuites writes suites.txt when asked to.
func TestRecordSuites(t *testing.T) {
	if *suitesOf == "" {
		t.Skip("-gocode.suites DIRECTORY writes suites.txt")
	}
	files, err := filepath.Glob(filepath.Join(*suitesOf, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got files %v, %v", files, err)
	}
	var lines []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// A suite, or a template of one with its fields filled in.
		if f := newSource(nil, name, text); f != nil {
			text = text[f.Offset(f.AST.Name.End()):]
		}
		for line := range strings.Lines(string(text)) {
			if key := suiteLine(line); key != "" {
				lines = append(lines, key)
			}
		}
	}
	slices.Sort(lines)
	if err := os.WriteFile("suites.txt", []byte(strings.Join(slices.Compact(lines), "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
