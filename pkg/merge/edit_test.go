package merge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

// editedFile is a file of an old scaffold and what the current one has for it.
type editedFile struct {
	name         string
	base, theirs []byte
}

// oldFiles returns the files of old scaffolds that are merged by units.
func oldFiles(t *testing.T) []editedFile {
	t.Helper()
	rendered, err := scaffold.Render("init", scaffold.Data{
		Project:  scaffold.Project{Name: "memcached-operator", Domain: "example.com", Repo: "github.com/example/memcached-operator"},
		Versions: scaffold.Pinned(),
	})
	if err != nil {
		t.Fatal(err)
	}
	program := []byte(currentProgram(t))
	files := []editedFile{{"main.go", []byte(oldProgram), program}}
	for _, release := range []string{"operator-sdk-1.1", "operator-sdk-1.23"} {
		archive, err := txtar.ParseFile("../../testdata/old/" + release + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			switch path.Base(f.Name) {
			case "main.go":
				files = append(files, editedFile{f.Name, f.Data, program})
			case "Makefile", "Dockerfile", ".gitignore", ".dockerignore":
				if theirs := rendered.Files[f.Name]; len(theirs) > 0 {
					files = append(files, editedFile{f.Name, f.Data, theirs})
				}
			}
		}
	}
	return files
}

// change edits a text at random: it adds a line of the user's, changes one, deletes a unit, or moves one. It returns the
// text and what of it is the user's.
func change(r *rand.Rand, name string, text []byte, n int) ([]byte, string) {
	root, err := Parse(name, text)
	if err != nil {
		return text, ""
	}
	parent := root
	for {
		var containers []*Node
		for _, child := range parent.Nodes {
			if len(child.Nodes) > 0 {
				containers = append(containers, child)
			}
		}
		if len(containers) == 0 || r.IntN(3) == 0 {
			break
		}
		parent = containers[r.IntN(len(containers))]
	}
	if len(parent.Nodes) == 0 {
		return text, ""
	}
	i := r.IntN(len(parent.Nodes))
	mine := fmt.Sprintf("mine%d", n)
	switch r.IntN(4) {
	case 0:
		parent.Nodes = slices.Delete(parent.Nodes, i, i+1)
		mine = ""
	case 1:
		j := r.IntN(len(parent.Nodes))
		parent.Nodes[i], parent.Nodes[j] = parent.Nodes[j], parent.Nodes[i]
		mine = ""
	case 2:
		head := slices.Clone(parent.Nodes[i].Head)
		if len(head) == 0 || parent.Key == "imports" || strings.HasPrefix(strings.TrimSpace(head[0]), "//") {
			return text, ""
		}
		line := strings.TrimSuffix(head[0], "\n")
		head[0] = strings.TrimRight(line, `\`+" ") + " # " + mine + "\n"
		if path.Ext(name) == ".go" {
			head[0] = line + " // " + mine + "\n"
		} else if before, ok := strings.CutSuffix(line, `\`); ok {
			head[0] = before + mine + ` \` + "\n"
		}
		parent.Nodes[i].Head = head
	default:
		line := map[string]string{
			"main.go": mine + "()\n", "Makefile": mine + " = 1\n", "Dockerfile": "COPY " + mine + " " + mine + "\n", ".gitignore": mine + "\n", ".dockerignore": mine + "\n",
		}[path.Base(name)]
		if path.Ext(name) == ".go" && parent == root {
			line = "func " + mine + "() {}\n"
		}
		parent.Nodes = slices.Insert(parent.Nodes, i, &Node{Key: mine, Head: []string{line}})
	}
	edited := root.Text()
	if _, err := Parse(name, edited); err != nil || root.child("package") == nil && path.Ext(name) == ".go" {
		return text, ""
	}
	return edited, mine
}

// side returns the text with all conflicts decided for a side.
func side(text []byte, s Side) []byte {
	var out []byte
	in := Markers
	for line := range bytes.Lines(text) {
		switch {
		case bytes.HasPrefix(line, []byte("<<<<<<< ")):
			in = Ours
		case in == Ours && string(line) == "=======\n":
			in = Theirs
		case in == Theirs && bytes.HasPrefix(line, []byte(">>>>>>> ")):
			in = Markers
		case in == Markers || in == s:
			out = append(out, line...)
		}
	}
	return out
}

// TestRandomEdits checks what holds for every merge, whatever the user changed.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	rounds := uint64(40)
	if testing.Short() {
		rounds = 5
	}
	options := Options{OursLabel: "yours", TheirsLabel: "scaffold"}
	for f, file := range oldFiles(t) {
		t.Run(fmt.Sprintf("%s %d", file.name, f), func(t *testing.T) {
			t.Parallel()
			base, current := fileBase(t, file.name, file.base), fileBase(t, file.name, file.theirs)
			for seed := range rounds {
				r := rand.New(rand.NewPCG(seed, uint64(f)))
				ours := file.base
				var mine []string
				for n := range 1 + r.IntN(4) {
					var added string
					if ours, added = change(r, file.name, ours, n); added != "" {
						mine = append(mine, added)
					}
				}
				merged, result, err := MergeFile(file.name, ours, file.theirs, base, options)
				if err != nil {
					t.Fatalf("seed %d: merge: %v", seed, err)
				}
				for _, text := range mine {
					// A later edit may have deleted it.
					if bytes.Contains(ours, []byte(text)) && !bytes.Contains(merged, []byte(text)) {
						t.Errorf("seed %d: %q is missing in\n%s", seed, text, merged)
					}
				}
				for _, s := range []Side{Ours, Theirs} {
					if _, err := Parse(file.name, side(merged, s)); err != nil {
						t.Errorf("seed %d: side %d is invalid: %v\n%s", seed, s, err, merged)
					}
				}
				if result.Reason != "" && !bytes.Equal(merged, ours) {
					t.Errorf("seed %d: changed, although the reason is %q", seed, result.Reason)
				}
				again := merged
				if len(result.Conflicts) > 0 {
					again = side(merged, Ours)
				}
				second, result, err := MergeFile(file.name, again, file.theirs, current, options)
				if err != nil || len(result.Conflicts) > 0 || !bytes.Equal(second, again) {
					t.Errorf("seed %d: second merge: %v, conflicts %q, got\n%s\nwant\n%s", seed, err, result.Conflicts, second, again)
				}
			}
		})
	}
}

// fileBase returns the facts of a file.
func fileBase(t *testing.T, name string, text []byte) factSet {
	t.Helper()
	facts, err := FileFacts(name, text)
	if err != nil {
		t.Fatal(err)
	}
	base := factSet{}
	base.add(facts)
	return base
}
