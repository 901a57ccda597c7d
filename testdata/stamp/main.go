// Package main gives the files of a clone times of change that depend only on their content.
//
// go test repeats the result of a package if its code, its variables and the files that it has opened are the same. It compares files by size
// and time, so that in a new clone everything runs again. Afterwards, it runs what a change is about. The times are before 2005:
// a file that changes later has another one.
//
//	go run ./testdata/stamp
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	n, err := stamp(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Printf("stamped %d files and directories\n", n)
}

// A file is a tracked file: its mode and the hash of its content in git's index, its path with slashes, and whether it differs from the index.
type file struct {
	mode, hash, name string
	modified         bool
}

// stamp sets the times of the tracked files below the top of a repository that are as in its index, and of all directories with tracked
// files, and returns how many there are.
func stamp(top string) (int, error) {
	files, err := tracked(top)
	if err != nil {
		return 0, err
	}
	sums := map[string][sha256.Size]byte{}
	listings := map[string]*bytes.Buffer{}
	for _, f := range files {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %t", f.mode, f.hash, f.modified))
		if (f.mode == "100644" || f.mode == "100755") && !f.modified {
			sums[f.name] = sum
		}
		for dir := path.Dir(f.name); ; dir = path.Dir(dir) {
			if listings[dir] == nil {
				listings[dir] = &bytes.Buffer{}
			}
			fmt.Fprintf(listings[dir], "%s %s\n", f.name, hex.EncodeToString(sum[:]))
			if dir == "." {
				break
			}
		}
	}
	for dir, listing := range listings {
		sums[dir] = sha256.Sum256(listing.Bytes())
	}
	for name, sum := range sums {
		seconds, nanoseconds := binary.BigEndian.Uint64(sum[:8])%(1<<30), binary.BigEndian.Uint64(sum[8:16])%1e9
		at := time.Unix(int64(seconds), int64(nanoseconds))
		if err := os.Chtimes(filepath.Join(top, filepath.FromSlash(name)), at, at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return len(sums), nil
}

// tracked returns the tracked files in the order of their names.
func tracked(top string) (files []file, err error) {
	listed, err := git(top, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	modified, err := git(top, "ls-files", "--modified", "-z")
	if err != nil {
		return nil, err
	}
	for _, line := range listed {
		properties, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(properties)
		if len(fields) != 3 {
			return nil, fmt.Errorf("unexpected line of git ls-files: %q", line)
		}
		files = append(files, file{fields[0], fields[1], name, slices.Contains(modified, name)})
	}
	return files, nil
}

// git returns the records that a git command prints, which NUL ends.
func git(top string, args ...string) ([]string, error) {
	c := exec.Command("git", args...)
	c.Dir = top
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(record string) bool { return record == "" }), err
}
