package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/help"
)

// TestDirectoryIsWorkingDirectory runs the hooks of every command, and checks that paths in flags and arguments are
// relative to -C then: no command sees the directory that the program was started in.
func TestDirectoryIsWorkingDirectory(t *testing.T) {
	t.Parallel()
	start := t.TempDir()
	sub := filepath.Join(start, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	var visit func(path []int)
	seen := 0
	visit = func(path []int) {
		var out bytes.Buffer
		a := newApp(&Env{Out: &out, Err: &out, Dir: start, FS: afero.NewOsFs(), Environ: []string{"KUBECONFIG=kubeconfig"}}, "operon")
		c := newRoot(a)
		a.dir = "sub" // -C
		for _, i := range path {
			c = c.Commands()[i]
		}
		for p := c; p != nil; p = p.Parent() {
			if p.PersistentPreRunE != nil { // the nearest one is all that cobra runs
				if err := p.PersistentPreRunE(c, nil); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		seen++
		files := a.locator(clusterChoice{}).Files()
		if a.Dir != sub || a.Absolute("x") != filepath.Join(sub, "x") || !slices.Equal(files.Paths, []string{filepath.Join(sub, "kubeconfig")}) {
			t.Errorf("%s works in %s, with the kubeconfig %q", c.CommandPath(), a.Dir, files.Paths)
		}
		for i := range c.Commands() {
			visit(append(slices.Clip(path), i))
		}
	}
	visit(nil)
	if seen < 50 {
		t.Errorf("visited %d commands", seen)
	}
}

// TestPathFlagsComplete checks that shells complete the flags that name files and directories, and those alone: usage names
// the kind of value of every flag with a text.
func TestPathFlagsComplete(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"file": cobra.BashCompFilenameExt, "paths": cobra.BashCompFilenameExt, "directory": cobra.BashCompSubdirsInDir,
	}
	paths := map[string]bool{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			kind := help.ValueName(f)
			for _, annotation := range []string{cobra.BashCompFilenameExt, cobra.BashCompSubdirsInDir} {
				if _, marked := f.Annotations[annotation]; marked != (want[kind] == annotation) {
					t.Errorf("%s --%s %s: marked as %s: %t", c.CommandPath(), f.Name, kind, annotation, marked)
				}
			}
			if want[kind] != "" {
				paths[f.Name] = true
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	a := newApp(&Env{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, FS: afero.NewMemMapFs()}, "operon")
	a.args = []string{cobra.ShellCompRequestCmd}
	visit(newRoot(a))
	for _, name := range []string{"license-file", "header-file", "kubeconfig", "input-dir", "output-dir", "kustomize-dir", "deploy-dir", "crds-dir", "apis-dir",
		"metadata-file", "icon", "tarball", "oci-layout", "file", "config", "test-output", "alpha-select-external", "diff", "filename", "check", "report", "manifests", "crds", "audit", "junit", "cert-dir", "values", "destination", "keyring", "passphrase-file"} {
		if !paths[name] {
			t.Errorf("--%s is not marked as a path", name)
		}
		delete(paths, name)
	}
	for name := range paths {
		t.Errorf("--%s names a path; add it to this test, and to testdata/script/directory.txtar", name)
	}
}
