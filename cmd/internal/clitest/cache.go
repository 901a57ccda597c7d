package clitest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// The cache in the user's cache directory contains results that depend only on the content of files: programs, and passed
// checks of projects. Test binaries use it concurrently; entries are created atomically, by a rename or as an empty file.
// The oldest ones are removed.
const (
	maxPrograms = 32
	maxPassed   = 4096
)

// cacheDir returns a directory of the cache.
func cacheDir(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "operon", "test", name)
	return cache, os.MkdirAll(cache, 0o755)
}

// cacheKey hashes files, words, and other inputs of builds.
func cacheKey(files map[string]string, words ...string) string {
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH, BuildFlags)
	fmt.Fprintf(h, "%q\n", words)
	for _, name := range SortedKeys(files) {
		fmt.Fprintf(h, "%q %d\n%s\n", name, len(files[name]), files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// touch marks an entry as used and reports whether it exists.
func touch(entry string) bool {
	now := time.Now()
	return os.Chtimes(entry, now, now) == nil
}

// prune keeps the n most recently used entries of a directory.
func prune(cache string, n int) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	var infos []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else another process removed it
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b os.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, info := range infos[min(n, len(infos)):] {
		if err := os.RemoveAll(filepath.Join(cache, info.Name())); err != nil {
			return err
		}
	}
	return nil
}

// checkOnce runs a check, which words identify, unless a project with the same files has passed it. As in the cache of
// go test, -count runs it again; so does -thorough.
func checkOnce(t testing.TB, dir string, check func(), words ...string) {
	t.Helper()
	if rerun() {
		check()
		return
	}
	cache, err := cacheDir("passed")
	if err != nil {
		t.Fatal(err)
	}
	passed := filepath.Join(cache, cacheKey(ReadTree(t, dir), words...))
	if touch(passed) {
		t.Logf("passed before: %q", words)
		return
	}
	if check(); t.Failed() {
		return
	}
	if err := os.WriteFile(passed, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := prune(cache, maxPassed); err != nil {
		t.Fatal(err)
	}
}

// rerun reports whether checks must not reuse results.
func rerun() bool {
	counted := false
	flag.Visit(func(f *flag.Flag) { counted = counted || f.Name == "test.count" })
	return counted || *Thorough
}
