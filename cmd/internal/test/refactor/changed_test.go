package refactor_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestFileChangedMeanwhile saves a file during a command, as an editor does. JSON names it and what to do next.
func TestFileChangedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	saved := filepath.Join(dir, "cmd", "main.go")
	wrap := func(fs afero.Fs) afero.Fs {
		return &editor{Fs: fs, save: func() { clitest.WriteFile(t, saved, "package main // mine\n") }}
	}
	code, out, errOut := clitest.RunOn(t, wrap, dir, "", nil,
		strings.Fields("create api --group cache --version v1 --kind Site --resource --controller --make=false -o json")...)
	if code != 1 || clitest.ReadFile(t, saved) != "package main // mine\n" {
		t.Errorf("exit code %d", code)
	}
	clitest.CheckContains(t, out,
		"\"nextSteps\": [\n    \"run the command again\"\n  ],\n  \"errors\": [\n    {\n      \"message\": \"this file was changed meanwhile by another process, nothing was written:\"",
		"\"file\": \"cmd/main.go\",\n      \"message\": \"was changed meanwhile by another process\",\n      \"severity\": \"error\"\n    }\n  ]")
	clitest.CheckContains(t, errOut, "error: this file was changed meanwhile by another process, nothing was written:\n    cmd/main.go\n  run the command again\n")
}

// An editor saves a file when a command begins to write a transaction.
type editor struct {
	afero.Fs
	save func()
}

func (e *editor) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	if e.save != nil && strings.Contains(filepath.ToSlash(name), "/.operon/txn/") {
		e.save()
		e.save = nil
	}
	return e.Fs.OpenFile(name, flag, mode)
}
