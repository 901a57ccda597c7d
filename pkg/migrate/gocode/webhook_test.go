package gocode

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestWebhooks moves the webhooks in each archive of testdata/webhooks. The directory current contains files of the
// current scaffold without webhooks. The result of x is x.want, or x.gone if it is removed; a file without
// either is not changed. The file notes contains the notes.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/webhooks/*.txtar")
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
			before, current := map[string][]byte{"go.mod": []byte("module example.com/mine\n")}, map[string][]byte{}
			options := &txtar.Archive{Comment: archive.Comment}
			for _, f := range archive.Files {
				if path.Ext(f.Name) == ".want" || path.Ext(f.Name) == ".gone" || f.Name == "notes" {
					continue
				}
				options.Files = append(options.Files, f)
				if inToday, ok := strings.CutPrefix(f.Name, "current/"); ok {
					current[inToday] = f.Data
				} else {
					before[f.Name] = f.Data
				}
			}
			after, outcome := movedWebhooks(t, before, current)
			got := txtar.Format(&txtar.Archive{Comment: options.Comment, Files: slices.Concat(options.Files, outcome)})
			if *update {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := txtar.Format(archive); !bytes.Equal(got, want) {
				t.Errorf("with the results, the archive is\n%s", got)
			}
			_, again := movedWebhooks(t, after, current)
			if slices.ContainsFunc(again, func(f txtar.File) bool { return f.Name != "notes" }) {
				t.Errorf("second run: changed\n%s", txtar.Format(&txtar.Archive{Files: again}))
			}
			windows := map[string][]byte{}
			for file, text := range before {
				windows[file] = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
			}
			crlf, _ := movedWebhooks(t, windows, current)
			for file, text := range after {
				if !bytes.Equal(bytes.ReplaceAll(crlf[file], []byte("\r\n"), []byte("\n")), text) {
					t.Errorf("with CRLF: %s: got\n%s", file, crlf[file])
				}
			}
		})
	}
}

// movedWebhooks are the files after the move, and what became of which.
func movedWebhooks(t *testing.T, files, current map[string][]byte) (after map[string][]byte, outcome []txtar.File) {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		if err := afero.WriteFile(fsys, "/p/"+name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := worktree.NewTree(fsys, "/p")
	config, err := project.Parse(files["PROJECT"])
	if err != nil {
		t.Fatal(err)
	}
	found, err := FindWebhooks(tree, config)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := found.Move(currentWebhooks(t, config, current))
	if err != nil {
		t.Fatal(err)
	}
	changes, err := tree.Changes()
	if err != nil {
		t.Fatal(err)
	}
	after = map[string][]byte{}
	maps.Copy(after, files)
	for _, c := range changes {
		if c.New == nil {
			delete(after, c.Path)
			outcome = append(outcome, txtar.File{Name: c.Path + ".gone"})
			continue
		}
		after[c.Path] = c.New
		outcome = append(outcome, txtar.File{Name: c.Path + ".want", Data: c.New})
	}
	var said strings.Builder
	for _, n := range notes {
		said.WriteString(n.Error() + "\n")
	}
	if said.Len() > 0 {
		outcome = append(outcome, txtar.File{Name: "notes", Data: []byte(said.String())})
	}
	return after, outcome
}

// currentWebhooks are the files of the current scaffold that webhooks are made of.
func currentWebhooks(t *testing.T, config *project.Config, more map[string][]byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	maps.Copy(files, more)
	for _, r := range config.Resources() {
		if r.Webhooks == nil {
			continue
		}
		rendered, err := scaffold.Render("webhook", scaffold.Data{
			Project: scaffold.Project{Repo: config.Repo(), MultiGroup: config.MultiGroup(), Boilerplate: "// A header."},
			Resource: scaffold.Resource{
				Group: r.Group, Version: r.Version, Kind: r.Kind, Plural: r.Plural,
				Package: r.Path, ImportAlias: r.ImportAlias(),
			},
			Webhook: scaffold.Webhook{
				Defaulting: r.Webhooks.Defaulting, Validation: r.Webhooks.Validation, Conversion: r.Webhooks.Conversion,
				DefaultingPath: r.DefaultingPath(), ValidationPath: r.ValidationPath(), APIGroup: r.APIGroup(),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range rendered.Files {
			if strings.HasSuffix(name, "_webhook.go") {
				files[name] = text
			}
		}
	}
	return files
}
