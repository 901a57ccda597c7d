package cmd

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/helmchart"
)

// writeProgram writes a shell script as operon-runtime to a new directory, which it returns.
func writeProgram(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows runs no shell scripts")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, helmchart.Program), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFindRuntime checks that operon-runtime is taken from the directory of operon before PATH.
func TestFindRuntime(t *testing.T) {
	t.Parallel()
	near, path := writeProgram(t, ""), writeProgram(t, "")
	for want, env := range map[string]*Env{
		near: {Executable: filepath.Join(near, "operon"), Environ: []string{"PATH=" + path}},
		path: {Executable: filepath.Join(t.TempDir(), "operon"), Environ: []string{"PATH=" + t.TempDir() + string(filepath.ListSeparator) + path}},
	} {
		if got, err := env.RuntimeProgram(); err != nil || got != filepath.Join(want, helmchart.Program) {
			t.Errorf("%+v: %s, %v, want it in %s", env, got, err, want)
		}
	}
	none := &Env{Environ: []string{"PATH=."}}
	if _, err := none.RuntimeProgram(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "'go install ") {
		t.Errorf("without the program: %v", err)
	}
}

// TestRuntimeIsInterrupted checks that operon-runtime is interrupted with operon, which returns its exit code.
func TestRuntimeIsInterrupted(t *testing.T) {
	t.Parallel()
	for code, name := range map[string]string{"0": helmOperator, "7": ansibleOperator} {
		dir := writeProgram(t, `trap 'echo stopped; exit `+code+`' INT
echo "called: $*"
while :; do sleep 0.05; done`)
		ctx, cancel := context.WithCancel(t.Context())
		out := &cancelAfter{text: "called: " + name + " run --watches-file a b\n", cancel: cancel}
		env := &Env{Dir: t.TempDir(), Environ: os.Environ(), Out: out, Err: out, Run: env.Run, Executable: filepath.Join(dir, "operon")}
		got := Main(ctx, env, []string{"operon", name, "run", "--watches-file", "a b"})
		if want := out.text + "stopped\n"; out.written.String() != want || string(rune('0'+got)) != code {
			t.Errorf("exit code %d, want %s; output %q, want %q", got, code, out.written.String(), want)
		}
	}
}

// cancelAfter cancels a context after a text has been written.
type cancelAfter struct {
	written bytes.Buffer
	text    string
	cancel  context.CancelFunc
}

func (c *cancelAfter) Write(p []byte) (int, error) {
	n, err := c.written.Write(p)
	if c.written.String() == c.text {
		c.cancel()
	}
	return n, err
}

// TestCharts checks that requests are answered by operon-runtime in the working directory, and described if they take long.
func TestCharts(t *testing.T) {
	t.Parallel()
	dir := writeProgram(t, `read request; sleep 0.2; printf '{"chart": {"name": "%s", "version": "%s"}}' "$*" "$(pwd)"`)
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var errOut bytes.Buffer
	a := newApp(&Env{Dir: work, Environ: os.Environ(), Err: &errOut, Run: env.Run, Executable: filepath.Join(dir, "operon"), SlowAfter: 1}, "operon")
	answer, err := a.actions().Charts.Fetch(t.Context(), helmchart.FetchRequest{Chart: "stable/redis"})
	if err != nil || answer.Chart.Name != "chart fetch" || answer.Chart.Version != work {
		t.Errorf("the answer is %+v, %v", answer, err)
	}
	if got, want := errOut.String(), "fetching chart stable/redis\n"; got != want {
		t.Errorf("stderr is %q, want %q", got, want)
	}
}
