package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestProcess checks what the program reads about processes, and that it ends them.
func TestProcess(t *testing.T) {
	t.Parallel()
	const variable = "SOAK_TEST_PROCESS=TestProcess"
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := startProcess([]string{"/bin/sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; exec sleep 98765"}, []string{variable, "PATH=" + os.Getenv("PATH")}, t.TempDir(), in)
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close() // the process has its own
	defer p.stop(syscall.SIGKILL)
	if text, err := io.ReadAll(io.LimitReader(out, 5)); string(text) != "done\n" {
		t.Fatalf("output %q (%v)", text, err)
	}
	if rss, err := residentKiB(p.pid()); rss < 1 || rss > 100<<10 {
		t.Errorf("resident memory %d KiB (%v)", rss, err)
	}
	if cpu := cpuSeconds(variable); cpu <= 0 || cpu > 60 {
		t.Errorf("CPU time %.2f s", cpu)
	}
	if found := marked(variable); len(found) != 1 {
		t.Errorf("marked %q", found)
	}
	if err := poll(t.Context(), time.Minute, time.Millisecond, func(context.Context) error { _, err := findProcess("sleep", "98765"); return err }); err != nil {
		t.Fatal(err)
	}
	if found, err := findProcess("sleep", "98765"); err != nil || found.pid != p.pid() || !slices.Contains(found.environ, variable) {
		t.Errorf("found %+v (%v)", found, err)
	}
	if code := p.stop(syscall.SIGKILL); code != -1 {
		t.Errorf("exit code %d", code)
	}
	if found := marked(variable); len(found) != 0 {
		t.Errorf("marked after the end: %q", found)
	}
}

// TestOperatorPanics checks that a panic in a log is found.
func TestOperatorPanics(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\"msg\": \"fine\"}\n":                                 "",
		"a\npanic: runtime error: x\n\ngoroutine 1\n":           "panic: runtime error: x",
		"{\"error\": \"Observed a panic: y\"}\n":                "Observed a panic: y\"}",
		"fatal error: concurrent map writes\n":                  "fatal error: concurrent map writes",
		"{\"msg\": \"no panic: the words inside of a line\"}\n": "",
	} {
		log, err := os.Create(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(log, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if got := (&operator{log: log}).panicked(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		_ = log.Close() // it was written
	}
}
