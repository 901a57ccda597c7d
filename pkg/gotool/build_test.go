package gotool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBuildCounts counts packages while the go command compiles, and keeps their paths out of its errors.
func TestBuildCounts(t *testing.T) {
	t.Parallel()
	var describe func() string
	var calls []string
	listed := make(chan struct{})
	tool := Go{Progress: io.Discard, Counting: func(d func() string, step func() error) error {
		describe = d
		return step()
	}, Start: func(_ context.Context, _ string, _ []string, out, errOut io.Writer, args ...string) error {
		switch args[0] {
		case "env":
			_, err := io.WriteString(out, "{}")
			return err
		case "list":
			defer close(listed)
			_, err := io.WriteString(out, "fmt\nexample.com/m\nexample.com/m/cmd\n")
			return err
		}
		calls = append(calls, strings.Join(args, " "))
		if got := describe(); got != "" {
			t.Errorf("before the first package: %q", got)
		}
		<-listed
		for _, step := range []struct{ text, want string }{
			{"fmt\nexample.com/", "building it: 1 package compiled (at most 3)"},
			{"m\n", "building it: 2 packages compiled (at most 3)"},
			{"# example.com/m\nm.go:1:2: undefined: x\n\thave (int)\nexample.com/a\nexample.com/b", "building it: 3 packages compiled (at most 3)"},
		} {
			if _, err := io.WriteString(errOut, step.text); err != nil {
				t.Error(err)
			}
			for !strings.Contains(describe(), "at most") { // the total is known a moment after the list has ended
				time.Sleep(time.Millisecond)
			}
			if got := describe(); got != step.want {
				t.Errorf("after %q: %q, want %q", step.text, got, step.want)
			}
		}
		return errors.New("exit status 1")
	}}
	err := tool.Build(t.Context(), Command{Dir: t.TempDir(), Args: []string{"-o", "x"}}, "./cmd", "building it")
	failed, ok := errors.AsType[*Error](err)
	if !ok || failed.Text != "# example.com/m\nm.go:1:2: undefined: x\n\thave (int)" {
		t.Errorf("got %v", err)
	}
	if want := []string{"build -v -o x ./cmd"}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
}

// TestBuild compiles a program whose modules aren't in the module cache, and names them if there is no proxy.
func TestBuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(f.dir, map[string]string{
		"m.go":   "package main\n\nimport _ \"example.com/lib\"\n\nfunc main() {}\n",
		"go.mod": "module m.example/m\n\ngo 1.26\n\nrequire example.com/lib v1.0.0\n\nrequire example.com/dep v1.0.0 // indirect\n",
	})
	command := Command{Dir: f.dir, Mod: []byte("module m.example/m\n\nrequire example.com/lib v1.0.0\n"), Variables: []string{"GOFLAGS=-mod=mod -modcacherw"}, Args: []string{"-o", "m.exe"}}
	err := f.tool("GOPROXY=off").Build(t.Context(), command, ".", "building it")
	missing, ok := errors.AsType[*MissingError](err)
	if !ok || !strings.HasPrefix(fmt.Sprint(missing), "the module cache lacks 1 module: example.com/lib@v1.0.0; GOPROXY=off forbids") {
		t.Errorf("without a proxy: %v", err)
	}
	if err := f.tool().Build(t.Context(), command, ".", "building it"); err != nil {
		t.Error(err)
	}
	if !strings.Contains(f.progress.String(), "downloading example.com/lib v1.0.0\n") {
		t.Errorf("progress:\n%s", f.progress.String())
	}
}
