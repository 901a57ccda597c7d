package clitest

import (
	"os"
	"path/filepath"
	"sync"
)

// Root returns a path below the root of the repository.
func Root(elem ...string) string {
	return filepath.Join(append([]string{root()}, elem...)...)
}

// Testdata returns a path below the testdata directory of the repository.
func Testdata(elem ...string) string {
	return Root(append([]string{"testdata"}, elem...)...)
}

// root is the closest directory with a go.mod at or above the directory that go test runs the tests in.
var root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			panic("clitest: no go.mod at or above the working directory")
		}
		dir = parent
	}
})
