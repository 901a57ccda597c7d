package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestPkgmanToBundleBuilds checks the commands of --build-cmd, which run without a shell, once for each bundle and in its
// directory, and the result when they fail.
func TestPkgmanToBundleBuilds(t *testing.T) {
	t.Parallel()
	const image = "quay.io/example/kiln-bundle"
	failure := errors.New("exit status 7")
	for _, c := range []struct {
		name, build string
		fails       func(ref string) error
		code        int
		// ran contains the calls: the directory, then the command and its arguments.
		ran            []string
		stdout, stderr string
		dryRun         bool
	}{
		{name: "default", ran: []string{
			"bundle-1.0.0|docker|build|-f|bundle.Dockerfile|.|-t|" + image + ":1.0.0", "bundle-1.1.0|docker|build|-f|bundle.Dockerfile|.|-t|" + image + ":1.1.0",
		}, stdout: "built    " + image + ":1.1.0\n"},
		{name: "quotes", build: `  po"d"man 'a  b' "c\"d\e" f\ g '' -t`, ran: []string{
			"bundle-1.0.0|podman|a  b|c\"d\\e|f g||-t|" + image + ":1.0.0", "bundle-1.1.0|podman|a  b|c\"d\\e|f g||-t|" + image + ":1.1.0",
		}, stderr: `in bundle-1.0.0: podman 'a  b' 'c"d\e' 'f g' '' -t ` + image + ":1.0.0\n"},
		{name: "one fails", build: "make", fails: func(ref string) error {
			if strings.HasSuffix(ref, ":1.0.0") {
				return failure
			}
			return nil
		}, code: 1, ran: []string{"bundle-1.0.0|make|" + image + ":1.0.0", "bundle-1.1.0|make|" + image + ":1.1.0"},
			stdout: "built    " + image + ":1.1.0\n", stderr: "error: building " + image + ":1.0.0: 'make " + image + ":1.0.0': exit status 7\n"},
		{name: "no such program", build: "nope x", fails: func(string) error { return fs.ErrNotExist }, code: 1,
			ran: []string{"bundle-1.0.0|nope|x|" + image + ":1.0.0"}, stderr: "error: program nope to build images not found; the bundles are written"},
		{name: "dry run", dryRun: true, stderr: "would run in bundle-1.1.0: docker build"},
		{name: "variable", build: "docker build $HOME", code: 2, stderr: "has a $, which requires a shell"},
		{name: "variable in quotes", build: `docker "$HOME"`, code: 2, stderr: "has a $"},
		{name: "pipe", build: "docker build . | cat", code: 2, stderr: "has a |"},
		{name: "pattern", build: "docker build x*", code: 2, stderr: "has a *"},
		{name: "nothing", build: " ", code: 2, stderr: "has no program"},
		{name: "backslash", build: `a \`, code: 2, stderr: "ends in a backslash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"packagemanifests/kiln.package.yaml": "packageName: kiln\nchannels:\n- {name: alpha, currentCSV: kiln.v1.1.0}\n"}
			for _, version := range []string{"1.0.0", "1.1.0"} {
				files["packagemanifests/"+version+"/csv.yaml"] = fmt.Sprintf(
					"apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: kiln.v%[1]s\nspec:\n  version: %[1]s\n", version)
			}
			dir := clitest.NewDir(t, files)
			var ran []string
			var out, errOut bytes.Buffer
			env := &cmd.Env{Out: &out, Err: &errOut, Dir: dir, FS: afero.NewOsFs(),
				Run: func(_ context.Context, run cmd.Command) error {
					in, name, args := run.Dir, run.Name, run.Args
					ran = append(ran, strings.Join(append([]string{filepath.Base(in), name}, args...), "|"))
					if _, err := os.Stat(filepath.Join(in, "bundle.Dockerfile")); err != nil {
						t.Error(err)
					}
					if c.fails == nil {
						return nil
					}
					return c.fails(args[len(args)-1])
				}}
			args := []string{"operon", "pkgman-to-bundle", "packagemanifests", "--image-tag-base", image}
			if c.build != "" {
				args = append(args, "--build-cmd", c.build)
			}
			if c.dryRun {
				args = append(args, "--dry-run")
			}
			if code := cmd.Main(t.Context(), env, args); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if strings.Join(ran, "\n") != strings.Join(c.ran, "\n") {
				t.Errorf("ran\n%s\nwant\n%s", strings.Join(ran, "\n"), strings.Join(c.ran, "\n"))
			}
			if !strings.HasSuffix(out.String(), c.stdout) || !strings.Contains(errOut.String(), c.stderr) {
				t.Errorf("stdout:\n%s\nstderr:\n%s", out.String(), errOut.String())
			}
			if _, err := os.Stat(filepath.Join(dir, "bundles")); (err == nil) == (c.code == 2 || c.dryRun) {
				t.Errorf("bundles: %v", err)
			}
		})
	}
}
