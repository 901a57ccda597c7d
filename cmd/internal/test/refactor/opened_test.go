package refactor_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestProjectIsOpenedOnce counts how often commands open PROJECT, also those that write it.
func TestProjectIsOpenedOnce(t *testing.T) {
	t.Parallel()
	const site = "--group cache --version v1 --kind Site"
	for name, commands := range map[string][]string{
		"memcached-operator": {
			"create api --group cache --version v1 --kind Site --resource --controller", "generate --check", "edit --multigroup --dry-run",
			"create webhook --defaulting --make=false " + site, "delete webhook --make=false " + site, "edit --plugins grafana/v1-alpha",
			"rename project cache-operator --dry-run", "rename repo example.com/cache --dry-run", "rename api --to-kind Page --dry-run " + site,
			"delete api --make=false --force " + site, "generate", "bundle", "upgrade", "upgrade --check", "upgrade --diff Makefile",
			"generate kustomize manifests --interactive=false",
		},
		"shop-operator": {
			"create api --group shops --version v1 --kind Cache", "chart list", "chart images", "generate", "bundle", "upgrade --check",
			"delete api --force --group shops --version v1 --kind Cache", "rename project cache-operator",
		},
		"site-operator": {
			"create api --group web --version v1 --kind Cache --generate-role", "generate", "bundle", "upgrade --check",
			"delete api --force --group web --version v1 --kind Cache", "rename project cache-operator",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := clitest.CopyGolden(t, name)
			for _, command := range commands {
				count := &openCounter{file: filepath.Join(dir, "PROJECT")}
				wrap := func(fs afero.Fs) afero.Fs { count.Fs = fs; return count }
				code, _, errOut := clitest.RunOn(t, wrap, dir, "", nil, strings.Fields(command)...)
				if code != 0 && !slices.Contains(strings.Fields(command), "--check") {
					t.Fatalf("%s: exit code %d\n%s", command, code, errOut)
				}
				if count.n != 1 {
					t.Errorf("%s opened PROJECT %d times", command, count.n)
				}
			}
		})
	}
}

// openCounter counts how often a file is opened. It keeps the name of the file system that it wraps, which decides about locks.
type openCounter struct {
	afero.Fs
	file string
	n    int
}

func (c *openCounter) Open(name string) (afero.File, error) {
	c.count(name)
	return c.Fs.Open(name)
}

func (c *openCounter) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	c.count(name)
	return c.Fs.OpenFile(name, flag, mode)
}

func (c *openCounter) count(name string) {
	if name == c.file {
		c.n++
	}
}
