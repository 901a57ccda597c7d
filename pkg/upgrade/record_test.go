package upgrade

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var recorded = flag.String("upgrade.record", "", "write known.txt for the trees in this `folder`: TOOL@VERSION@LAYOUT/STATE")

// TestRecord writes known.txt. cmd's TestKnown makes the trees with the peers, and holds that known.txt is what
// they write.
func TestRecord(t *testing.T) {
	if *recorded == "" {
		t.Skip("-upgrade.record DIRECTORY writes known.txt")
	}
	projects := map[Scaffold][]map[string][]byte{}
	scaffolds, err := os.ReadDir(*recorded)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scaffolds {
		parts := strings.SplitN(strings.ReplaceAll(s.Name(), "+", "/"), "@", 3)
		states, err := os.ReadDir(filepath.Join(*recorded, s.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, state := range states {
			files := map[string][]byte{}
			root := filepath.Join(*recorded, s.Name(), state.Name())
			err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				rel, err := filepath.Rel(root, p)
				if err != nil {
					return err
				}
				files[filepath.ToSlash(rel)], err = os.ReadFile(p)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if main := files["main.go"]; main != nil {
				files["cmd/main.go"] = main
				delete(files, "main.go")
			}
			projects[Scaffold{parts[0], parts[1], parts[2]}] = append(projects[Scaffold{parts[0], parts[1], parts[2]}], files)
		}
	}
	names := Names{
		Project: "prjnm", Domain: "domnm.example", Repo: "repnm.example/modnm",
		Resources: []Resource{{Group: "grpnm", Version: "v77", Kind: "Kindnm", Plural: "kindnms"}},
	}
	if err := os.WriteFile("known.txt", []byte(Record(names, projects)), 0o644); err != nil {
		t.Fatal(err)
	}
}
