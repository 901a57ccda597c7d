package clitest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// RuntimeVariable names the environment variable with the path of operon-runtime for operon in a separate process.
const RuntimeVariable = "OPERON_TEST_RUNTIME"

// Runtime builds operon-runtime, unless it is cached, and returns its path. Run uses it as Env.Runtime. Tests that start operon in
// a separate process, which does not contain the sources, set RuntimeVariable to it.
var Runtime = sync.OnceValues(func() (string, error) {
	files := map[string]string{}
	for _, top := range []string{"go.mod", "go.sum", "cmd/operon-runtime", "pkg"} {
		if err := addSources(files, filepath.FromSlash(top)); err != nil {
			return "", err
		}
	}
	const pkg = "./cmd/operon-runtime"
	return buildProgram(Root(), pkg, cacheKey(files, pkg))
})

// addSources adds a file, or the files of a tree that a build may read: no tests and no testdata.
func addSources(files map[string]string, top string) error {
	return filepath.WalkDir(Root(top), func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(Root(), p)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
}
