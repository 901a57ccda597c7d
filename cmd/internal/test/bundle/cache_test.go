package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestCacheStaysSmall checks that the cache contains a limited number of records of a project, the last ones, and none of
// removed projects.
func TestCacheStaysSmall(t *testing.T) {
	t.Parallel()
	p, removed := newts(t), newts(t)
	removed.cache = p.cache
	removed.must(t, "--version", "0.1.0")
	if err := os.RemoveAll(removed.dir); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		p.must(t, "--version", fmt.Sprintf("0.2.%d", i))
	}
	files := clitest.ReadTree(t, filepath.Join(p.cache, "operon", "projects"))
	records := 0
	for name, content := range files {
		switch base := filepath.Base(name); {
		case strings.HasPrefix(base, "bundle-"):
			records++
		case base == "root" && content != p.dir:
			t.Errorf("the cache still contains records of %s", content)
		case strings.Contains(base, "."):
			t.Errorf("%s was not removed", name)
		}
	}
	if records != 16 {
		t.Errorf("got %d records, want 16: %s", records, clitest.SortedKeys(files))
	}
	// The last record is kept: an edit is distinguished from a change of the input.
	p.edit(t, newtCSV, "displayName: Newt Operator", "displayName: Newts of the Pond")
	p.edit(t, newtBase, "displayName: Newt Operator", "displayName: Newts")
	if code, _, errOut := p.run(t, "--version", "0.2.19"); code != 1 || !strings.Contains(errOut, "generated before: Newt Operator") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}

// TestFindingsAreKept expects findings from the cache if neither the program nor the bundle has changed, and a new
// validation otherwise.
func TestFindingsAreKept(t *testing.T) {
	t.Parallel()
	p := newGoldenProject(t, "minimal-operator")
	const finding = "[channel-name]"
	bundle := func() string {
		t.Helper()
		_, errOut := p.must(t, "bundle", "--version", "0.0.1")
		return errOut
	}
	p.must(t, "bundle", "--version", "0.0.1", "--channels", "beta")
	if first, again := bundle(), bundle(); !strings.Contains(first, finding) || again != first {
		t.Fatalf("at first:\n%s\nthen:\n%s", first, again)
	}
	for name := range clitest.ReadTree(t, p.cache) {
		if strings.HasPrefix(filepath.Base(name), "findings-") {
			if err := os.WriteFile(filepath.Join(p.cache, name), []byte("[]"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if kept := bundle(); strings.Contains(kept, finding) {
		t.Errorf("the bundle was validated again:\n%s", kept)
	}
	p.build = "another"
	if other := bundle(); !strings.Contains(other, finding) {
		t.Errorf("another program did not validate the bundle:\n%s", other)
	}
	p.build = ""
	p.replace(t, "bundle/metadata/annotations.yaml", "channels.v1: beta", "channels.v1: gamma")
	if changed := bundle(); !strings.Contains(changed, finding) {
		t.Errorf("another bundle was not validated:\n%s", changed)
	}
}
