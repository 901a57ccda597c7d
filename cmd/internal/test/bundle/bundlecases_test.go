package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/testdata/cases"
)

// bundleDifference is a case in which Operon deliberately does not do what operator-sdk did.
type bundleDifference struct {
	reason string
	// refused matches stderr if Operon refuses what operator-sdk accepted; empty if it does not.
	refused string
	// accepted is true if operator-sdk failed where Operon makes a bundle.
	accepted bool
}

// TestBundleCases replays the recorded runs of operator-sdk's generate bundle.
func TestBundleCases(t *testing.T) {
	t.Parallel()
	recorded, err := cases.All("bundle")
	if err != nil {
		t.Fatal(err)
	}
	stale := bundleDifferences()
	for _, c := range recorded {
		delete(stale, c.Name)
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			replayBundleCase(t, c)
		})
	}
	for name := range stale {
		t.Errorf("bundleDifferences: case %q not found; delete it", name)
	}
}

func replayBundleCase(t *testing.T, c *cases.Case) {
	work := filepath.Join(t.TempDir(), "work")
	if err := os.CopyFS(work, c.FS("tree")); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	env := &cmd.Env{
		Out: &out, Err: &errOut, Dir: work, FS: afero.NewOsFs(),
		Now: func() time.Time { return time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC) },
	}
	switch stdin, pipe, regular := c.Stdin(); {
	case regular:
		name := filepath.Join(t.TempDir(), "stdin.yaml")
		if err := os.WriteFile(name, []byte(stdin), 0o644); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		env.In, env.InFile = file, true
	case pipe:
		env.In, env.InPipe = strings.NewReader(stdin), true
	}
	command := c.Commands[0]
	code := cmd.Main(t.Context(), env, append([]string{"operon"}, command.Args...))
	difference, differs := bundleDifferences()[c.Name]
	if *clitest.Update && differs && difference.refused == "" {
		if err := c.Update(clitest.ReadTree(t, work), sameFile); err != nil {
			t.Fatal(err)
		}
	}
	checkBundleDifference(t, c, difference, differs)
	before, want, failed := c.Files("tree"), c.Want(), command.Failed && !difference.accepted
	if difference.refused != "" {
		want, failed = before, true
		if !regexp.MustCompile(difference.refused).MatchString(errOut.String()) {
			t.Errorf("stderr does not match %q:\n%s", difference.refused, errOut.String())
		}
	}
	if failed != (code != 0) {
		t.Fatalf("exit code %d\n%s", code, errOut.String())
	}
	got := clitest.ReadTree(t, work)
	for _, file := range clitest.SortedKeys(want) {
		content, ok := got[file]
		if !ok {
			t.Errorf("%s is missing", file)
			continue
		}
		if a, b := normalize(want[file]), normalize(content); a != b {
			t.Errorf("%s differs\n%s", file, clitest.DiffLines(a, b))
		}
	}
	for _, file := range clitest.SortedKeys(got) {
		if _, ok := want[file]; !ok {
			t.Errorf("unexpected file %s", file)
		}
	}
	if command.Stdout != "" {
		if a, b := sortedDocs(normalize(command.Stdout)), sortedDocs(normalize(out.String())); a != b {
			t.Errorf("stdout differs\n%s", clitest.DiffLines(a, b))
		}
	}
}

// checkBundleDifference fails if an entry of bundleDifferences does not state the difference that its case has.
func checkBundleDifference(t *testing.T, c *cases.Case, difference bundleDifference, differs bool) {
	t.Helper()
	for _, name := range c.Redundant(sameFile) {
		t.Errorf("%s is not a difference; delete it from the case", name)
	}
	failed := c.Commands[0].Failed
	switch {
	case !differs && c.Differs():
		t.Error("bundleDifferences states no reason for the files of ours/ and omitted")
	case !differs:
	case difference.reason == "":
		t.Error("bundleDifferences states no reason")
	case difference.refused != "" && (failed || c.Differs() || difference.accepted):
		t.Error("bundleDifferences: refused is stale: operator-sdk failed, too, or the case has ours/ or omitted")
	case difference.accepted && !failed:
		t.Error("bundleDifferences: accepted is stale: operator-sdk did not fail")
	case difference.refused == "" && !difference.accepted && !c.Differs():
		t.Error("bundleDifferences: the entry is stale: no file differs")
	}
}

// normalize replaces the time and the builder in a file of a bundle by placeholders.
func normalize(content string) string {
	content = regexp.MustCompile(`(?m)^(\s*createdAt: ).*$`).ReplaceAllString(content, `${1}"<createdAt>"`)
	return regexp.MustCompile(`(?m)(builder[:=] ?)\S+$`).ReplaceAllString(content, `${1}<builder>`)
}

func sameFile(a, b string) bool { return normalize(a) == normalize(b) }

// sortedDocs sorts the documents of a stream.
func sortedDocs(stream string) string {
	var docs []string
	for _, doc := range regexp.MustCompile(`(?m)^---$`).Split(stream, -1) {
		if doc = strings.Trim(doc, "\n"); doc != "" {
			docs = append(docs, doc)
		}
	}
	slices.Sort(docs)
	return strings.Join(docs, "\n---\n") + "\n"
}
