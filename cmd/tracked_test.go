package cmd_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// maxTracked is the largest size of a tracked file in bytes: what is in the history of a repository stays there.
const maxTracked = 1 << 20

// largeFiles are the tracked files that may be larger, with their reasons.
var largeFiles = map[string]string{
	"testdata/cases/validate/83-size-csv-over-1mib.txtar":              "a bundle that is larger than the limit of etcd",
	"testdata/cases/validate/85-size-csv-over-1mib-compressible.txtar": "the same, which fits when it is compressed",
}

// executables are the tracked files that may be executable.
var executables = []string{".ci/run"}

// buildOutput are the first bytes of what builds write: programs of Linux, macOS and Windows, libraries, WebAssembly and archives.
var buildOutput = map[string]string{
	"\x7fELF": "a program of Linux", "\xfe\xed\xfa": "a program of macOS", "\xce\xfa\xed\xfe": "a program of macOS", "\xcf\xfa\xed\xfe": "a program of macOS",
	"\xca\xfe\xba\xbe": "a program of macOS", "MZ": "a program of Windows", "!<arch>\n": "a library", "\x00asm": "WebAssembly",
	"\x1f\x8b": "an archive", "PK\x03\x04": "an archive", "BZh": "an archive", "\xfd7zXZ": "an archive", "\x28\xb5\x2f\xfd": "an archive", "go object ": "a Go object",
}

// checkTracked returns the problems of a tracked file, given its mode in git and its content.
func checkTracked(mode, name string, size int64, start []byte) (problems []string) {
	switch {
	case mode == "100755" && !slices.Contains(executables, name):
		problems = append(problems, "is executable")
	case mode != "100644" && mode != "100755":
		problems = append(problems, "is a link or a repository")
	}
	if size > maxTracked && largeFiles[name] == "" {
		problems = append(problems, "is larger than 1 MiB")
	}
	for magic, what := range buildOutput {
		if bytes.HasPrefix(start, []byte(magic)) && (magic != "MZ" || bytes.IndexByte(start, 0) >= 0) {
			problems = append(problems, "is "+what)
		}
	}
	return problems
}

// TestTracked checks that the repository contains no large files, programs and other output of builds.
func TestTracked(t *testing.T) {
	t.Parallel()
	root := clitest.Root()
	if _, err := os.Stat(filepath.Join(root, ".git")); errors.Is(err, os.ErrNotExist) {
		t.Skip("the source is not a clone of the repository")
	}
	list := exec.Command("git", "ls-files", "--stage", "-z")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		info, name, ok := strings.Cut(entry, "\t")
		if !ok {
			t.Fatalf("git printed %q", entry)
		}
		mode, _, _ := strings.Cut(info, " ")
		file, err := os.Open(filepath.Join(root, filepath.FromSlash(name)))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, but not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		start := make([]byte, 512)
		n, err := io.ReadFull(file, start)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
		stat, err := file.Stat()
		_ = file.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range checkTracked(mode, name, stat.Size(), start[:n]) {
			t.Errorf("%s %s; remove it from the commit: it would stay in the history", name, problem)
		}
		files++
	}
	if files < 1000 {
		t.Errorf("only %d files were checked", files)
	}
}

// TestCheckTracked gives TestTracked what it must find.
func TestCheckTracked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode, name, start string
		size              int64
		want              string
	}{
		{"100644", "a.txt", "text", 4, ""},
		{"100644", "MZ.md", "MZ is text", 10, ""},
		{"100755", ".ci/run", "#!/usr/bin/env bash", 500, ""},
		{"100755", "a.sh", "#!/bin/sh", 9, "is executable"},
		{"120000", "link", "", 0, "is a link or a repository"},
		{"160000", "module", "", 0, "is a link or a repository"},
		{"100644", "bin/operon", "\x7fELF\x02", 143 << 20, "is larger than 1 MiB, is a program of Linux"},
		{"100644", "operon.exe", "MZ\x90\x00", 100, "is a program of Windows"},
		{"100644", "operon", "\xcf\xfa\xed\xfe", 100, "is a program of macOS"},
		{"100644", "chart.tgz", "\x1f\x8b\x08", 100, "is an archive"},
	} {
		if got := strings.Join(checkTracked(c.mode, c.name, c.size, []byte(c.start)), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
