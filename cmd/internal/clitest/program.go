package clitest

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// BuildProgram builds a main package in the module at dir and returns the path of the program. The package is a path
// below dir with a leading "./", or an import path of a required module. Programs are cached, so that each is linked
// once.
func BuildProgram(tb testing.TB, dir, pkg string) string {
	tb.Helper()
	files := map[string]string{}
	if strings.HasPrefix(pkg, "./") {
		maps.Copy(files, ReadTree(tb, dir))
	} else {
		for _, name := range []string{"go.mod", "go.sum"} {
			files[name] = ReadFile(tb, filepath.Join(dir, name))
		}
	}
	program, err := buildProgram(dir, pkg, cacheKey(files, pkg))
	if err != nil {
		tb.Fatalf("building %s: %v", pkg, err)
	}
	return program
}

func buildProgram(dir, pkg, key string) (string, error) {
	cache, err := cacheDir("programs")
	if err != nil {
		return "", err
	}
	locks, err := cacheDir("locks")
	if err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(locks, key[:2]))
	if err := lock.Lock(); err != nil {
		return "", err
	}
	defer func() { _ = lock.Unlock() }() // the end of the process unlocks it, too
	entry := filepath.Join(cache, key)
	name := path.Base(pkg) + ".exe"
	if touch(entry) {
		return filepath.Join(entry, name), nil
	}
	partial, err := os.MkdirTemp(cache, "partial-*")
	if err != nil {
		return "", err
	}
	c := GoCommand(dir, "build", "-buildvcs=false", "-o", filepath.Join(partial, name), pkg)
	c.Env = append(c.Env, "GOFLAGS=-mod=readonly "+BuildFlags)
	err = compiling(func() error {
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if err := os.Rename(partial, entry); err != nil {
		return "", err
	}
	return filepath.Join(entry, name), prune(cache, maxPrograms)
}
