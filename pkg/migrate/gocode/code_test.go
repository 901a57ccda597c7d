package gocode

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// update is a flag of this test: go test ./pkg/migrate/gocode -update writes what the rewrites make of the files.
var update = flag.Bool("update", false, "write what is wanted into testdata")

// TestCode rewrites the files of each archive in testdata. The result of x.go is x.go.want; a file without one is not
// changed. The file notes contains the notes; current/x.go belongs to the current scaffold.
func TestCode(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("got %d archives, %v; want at least one", len(archives), err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			before := map[string][]byte{"go.mod": []byte("module example.com/mine\n")}
			want, current := map[string][]byte{}, map[string][]byte{}
			for _, f := range archive.Files {
				if base, ok := strings.CutSuffix(f.Name, ".want"); ok {
					want[base] = f.Data
				} else if base, ok := strings.CutPrefix(f.Name, "current/"); ok {
					current[base] = f.Data
				} else if f.Name == "notes" {
					want["notes"] = f.Data
				} else {
					before[f.Name] = f.Data
				}
			}
			after := modernized(t, before, current)
			if *update {
				record(t, name, archive, before, after)
				return
			}
			for file, text := range before {
				wanted := want[file]
				if wanted == nil {
					wanted = text
				}
				if !bytes.Equal(after[file], wanted) {
					t.Errorf("%s: got\n%s", file, after[file])
				}
			}
			if !bytes.Equal(after["notes"], want["notes"]) {
				t.Errorf("notes: got\n%s", after["notes"])
			}
			notes := after["notes"]
			delete(after, "notes")
			for file, text := range modernized(t, after, current) {
				if file != "notes" && !bytes.Equal(text, after[file]) {
					t.Errorf("second run: %s: got\n%s", file, text)
				}
				if file == "notes" && len(text) > len(notes) {
					t.Errorf("second run: notes: got\n%s", text)
				}
			}
			// The line ends of Windows stay.
			windows := map[string][]byte{}
			for file, text := range before {
				windows[file] = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
			}
			for file, text := range modernized(t, windows, current) {
				if file != "notes" && !bytes.Equal(text, bytes.ReplaceAll(after[file], []byte("\n"), []byte("\r\n"))) {
					t.Errorf("with CRLF: %s: got\n%s", file, text)
				}
			}
		})
	}
}

// modernized returns the files after Rewrite, with its notes in the file notes.
func modernized(t *testing.T, files, current map[string][]byte) map[string][]byte {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		if err := afero.WriteFile(fsys, "/p/"+name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := worktree.NewTree(fsys, "/p")
	notes, err := Rewrite(tree, current)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for name := range files {
		if out[name], err = tree.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	var said strings.Builder
	for _, n := range notes {
		said.WriteString(n.Error() + "\n")
	}
	if said.Len() > 0 {
		out["notes"] = []byte(said.String())
	}
	return out
}

// record writes an archive with what came of its files.
func record(t *testing.T, name string, archive *txtar.Archive, before, after map[string][]byte) {
	t.Helper()
	out := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, ".want") || f.Name == "notes" {
			continue
		}
		out.Files = append(out.Files, f)
		if !bytes.Equal(after[f.Name], before[f.Name]) {
			out.Files = append(out.Files, txtar.File{Name: f.Name + ".want", Data: after[f.Name]})
		}
	}
	if after["notes"] != nil {
		out.Files = append(out.Files, txtar.File{Name: "notes", Data: after["notes"]})
	}
	if err := os.WriteFile(name, txtar.Format(out), 0o644); err != nil {
		t.Fatal(err)
	}
}
