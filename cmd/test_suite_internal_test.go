package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
)

// TestAPIServerOfSuite expects the error of a program that takes the place of an API server on its output, which envtest discards, and
// in a file.
func TestAPIServerOfSuite(t *testing.T) {
	t.Parallel()
	var out, errOut bytes.Buffer
	failures := filepath.Join(t.TempDir(), "failures")
	environ := []string{"TMPDIR=" + t.TempDir(), "OPERON_SUITE_ASSETS=" + t.TempDir(), failuresVariable + "=" + failures}
	env := &Env{Out: &out, Err: &errOut, Dir: t.TempDir(), FS: afero.NewOsFs(), Environ: environ, Now: time.Now}
	const want = "adding controllers to the API server of envtest: open none/apiserver.crt: "
	for range 2 { // packages
		if code := Main(t.Context(), env, []string{"operon", "--cert-dir=none", "--etcd-servers=http://127.0.0.1:1"}); code != exitFailed {
			t.Errorf("exit code %d", code)
		}
	}
	data, err := os.ReadFile(failures)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"output": errOut.String(), "file": string(data)} {
		if strings.Count(filepath.ToSlash(text), want) != 2 {
			t.Errorf("the %s lacks %q:\n%s", name, want, text)
		}
	}
}
