package migrate

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestFilesBounds checks that a scaffolded file that is too large to be merged is refused, and a file of the user's is not.
func TestFilesBounds(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	options := Options{Names: Names{Project: "mine"}, Fingerprints: &Fingerprints{}, Verifier: NewVerifier(worktree.NewTree(fsys, "/p")), Label: "current"}
	large := []byte(strings.Repeat("a\n", maxMerged))
	for _, test := range []struct{ name, want string }{
		{"notes.md", ""},
		{"config/manager/manager.yaml", "config/manager/manager.yaml has 524288 bytes, more than the 262144 of a file that is merged; "},
	} {
		if err := afero.WriteFile(fsys, "/p/"+test.name, large, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Files(worktree.NewTree(fsys, "/p"), map[string][]byte{"config/manager/manager.yaml": []byte("a: b\n")}, options)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}
