package clitest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// programMaxAge is how long an unused program stays in the cache.
const programMaxAge = 7 * 24 * time.Hour

// BuildProgram builds a main package in the module at dir and returns the path of the program. Programs are kept below
// the user's cache directory, by the content that they are built from; test binaries may build them at the same time.
// The package is a path below dir with a leading "./", or an import path of a required module.
func BuildProgram(tb testing.TB, dir, pkg string) string {
	tb.Helper()
	program, err := buildProgram(dir, pkg)
	if err != nil {
		tb.Fatalf("building %s: %v", pkg, err)
	}
	return program
}

func buildProgram(dir, pkg string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "operon", "test-programs")
	key, err := programKey(dir, pkg)
	if err != nil {
		return "", err
	}
	entry := filepath.Join(cache, key)
	program := filepath.Join(entry, path.Base(pkg)+".exe")
	if err := os.MkdirAll(entry, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(entry, "lock"))
	if err := lock.Lock(); err != nil {
		return "", err
	}
	defer func() { _ = lock.Unlock() }() // the end of the process unlocks it, too
	if _, err := os.Stat(program); err == nil {
		now := time.Now()
		return program, os.Chtimes(entry, now, now)
	}
	partial := program + ".partial"
	c := GoCommand(dir, "build", "-buildvcs=false", "-o", partial, pkg)
	c.Env = append(c.Env, "GOFLAGS=-mod=readonly "+BuildFlags)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.Rename(partial, program); err != nil {
		return "", err
	}
	return program, prunePrograms(cache)
}

// programKey hashes what a program is built from: the Go version, the required modules and, for a package of the module
// itself, all of the module's Go files.
func programKey(dir, pkg string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH, pkg)
	files := []string{"go.mod", "go.sum"}
	if strings.HasPrefix(pkg, "./") {
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
			if path.Ext(name) == ".go" {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(data), data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// prunePrograms removes programs that have not been used for long.
func prunePrograms(cache string) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < programMaxAge {
			continue // another test removed it, or it is in use
		}
		if err := os.RemoveAll(filepath.Join(cache, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
