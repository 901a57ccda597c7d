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
)

// bundleDifferences are the cases in which Operon does not do what operator-sdk did, and why. The files
// that differ are in want below the case's name in testdata/cases/bundle-ours; refused is what stderr
// says where Operon refuses what operator-sdk took.
type bundleDifference struct {
	reason  string
	refused string
	// taken tells that operator-sdk failed where Operon makes the bundle in want.
	taken bool
}

// TestBundleCases replays the recorded runs of operator-sdk's generate bundle.
func TestBundleCases(t *testing.T) {
	t.Parallel()
	cases := clitest.Testdata("cases", "bundle")
	entries, err := os.ReadDir(cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			replayBundleCase(t, filepath.Join(cases, entry.Name()))
		})
	}
}

func replayBundleCase(t *testing.T, dir string) {
	name := filepath.Base(dir)
	work := filepath.Join(t.TempDir(), "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	before := map[string]string{}
	if tree := filepath.Join(dir, "tree"); exists(tree) {
		if err := os.CopyFS(work, os.DirFS(tree)); err != nil {
			t.Fatal(err)
		}
		before = clitest.ReadTree(t, tree)
	}
	var out, errOut bytes.Buffer
	env := &cmd.Env{
		Out: &out, Err: &errOut, Dir: work, FS: afero.NewOsFs(),
		Now: func() time.Time { return time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC) },
	}
	switch stdin := filepath.Join(dir, "stdin.yaml"); {
	case exists(filepath.Join(dir, "stdin-mode.txt")):
		file, err := os.Open(stdin)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		env.In, env.InFile = file, true
	case exists(stdin):
		env.In, env.InPipe = strings.NewReader(clitest.ReadFile(t, stdin)), true
	}
	args := strings.Fields(clitest.ReadFile(t, filepath.Join(dir, "cmd.txt")))
	code := cmd.Main(t.Context(), env, append([]string{"operon"}, args...))
	failed := strings.TrimSpace(clitest.ReadFile(t, filepath.Join(dir, "exit.txt"))) != "0"
	difference, differs := bundleDifferences()[name]
	want := filepath.Join(dir, "expected")
	if differs && difference.refused == "" {
		want = clitest.Testdata("cases", "bundle-ours", name)
		failed = failed && !difference.taken
		if *clitest.Update {
			writeOurs(t, want, before, clitest.ReadTree(t, work))
		}
	}
	if differs && difference.refused != "" {
		failed, want = true, ""
		if !regexp.MustCompile(difference.refused).MatchString(errOut.String()) {
			t.Errorf("stderr does not say %q:\n%s", difference.refused, errOut.String())
		}
	}
	if failed != (code != 0) {
		t.Fatalf("exit code %d\n%s", code, errOut.String())
	}
	expected := map[string]string{}
	for file, content := range before {
		expected[file] = content
	}
	if want != "" && exists(want) {
		for file, content := range clitest.ReadTree(t, want) {
			expected[file] = content
		}
	}
	got := clitest.ReadTree(t, work)
	for _, file := range clitest.SortedKeys(expected) {
		content, ok := got[file]
		if !ok {
			if !(differs && strings.Contains(difference.reason, "removes "+file)) {
				t.Errorf("%s is missing", file)
			}
			continue
		}
		if before[file] == content && expected[file] == content {
			continue
		}
		if a, b := recorded(expected[file]), recorded(content); a != b {
			t.Errorf("%s differs\n%s", file, clitest.DiffLines(a, b))
		}
	}
	for _, file := range clitest.SortedKeys(got) {
		if _, ok := expected[file]; !ok {
			t.Errorf("%s is more than expected", file)
		}
	}
	if stdout := filepath.Join(dir, "expected-stdout.yaml"); exists(stdout) {
		if a, b := sortedDocs(recorded(clitest.ReadFile(t, stdout))), sortedDocs(recorded(out.String())); a != b {
			t.Errorf("stdout differs\n%s", clitest.DiffLines(a, b))
		}
	}
}

// recorded brings a file of a bundle into the form of the recording: without the time and the builder.
func recorded(content string) string {
	content = regexp.MustCompile(`(?m)^(\s*createdAt: ).*$`).ReplaceAllString(content, `${1}"<createdAt>"`)
	return regexp.MustCompile(`(?m)(builder[:=] ?)\S+$`).ReplaceAllString(content, `${1}<builder>`)
}

// sortedDocs brings the documents of a stream into an order.
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

// writeOurs writes what a case's run created or changed below dir.
func writeOurs(t *testing.T, dir string, before, after map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for file, content := range after {
		if before[file] == content {
			continue
		}
		clitest.WriteFiles(t, dir, map[string]string{file: content})
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
