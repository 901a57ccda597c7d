package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// shell runs the tutorial's commands: it knows cd, mkdir and export, and starts everything else.
type shell struct {
	ctx     context.Context
	dir     string
	env     []string
	out     io.Writer
	running []*exec.Cmd
	// shown is what the last command that looked at a resource printed.
	shown string
}

func newShell(ctx context.Context, dir string, out io.Writer) *shell {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") // of the make that calls this
	})
	return &shell{ctx: ctx, dir: dir, env: env, out: out}
}

func (s *shell) setenv(key, value string) { s.env = append(s.env, key+"="+value) }

// path puts folders in front of PATH.
func (s *shell) path(dirs ...string) {
	s.setenv("PATH", strings.Join(append(dirs, s.getenv("PATH")), string(os.PathListSeparator)))
}

func (s *shell) getenv(key string) string {
	for i := len(s.env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(s.env[i], key+"="); ok {
			return value
		}
	}
	return ""
}

func (s *shell) step(st step) error {
	if st.heading != "" {
		fmt.Fprintf(s.out, "\n==> %s\n", st.heading)
	}
	fmt.Fprintf(s.out, "$ %s\n", st.line)
	switch st.words[0] {
	case "cd":
		s.dir = filepath.Join(s.dir, st.words[1])
		return nil
	case "mkdir":
		return os.Mkdir(filepath.Join(s.dir, st.words[1]), 0o755)
	case "export":
		key, value, _ := strings.Cut(st.words[1], "=")
		s.setenv(key, value)
		return nil
	}
	if st.background {
		return s.start(st)
	}
	var got bytes.Buffer
	c := s.command(st)
	c.Stdout, c.Stderr = io.MultiWriter(s.out, &got), io.MultiWriter(s.out, &got)
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", st.line, err)
	}
	if len(st.words) > 1 && st.words[1] == "get" {
		s.shown = got.String()
	}
	printed := strings.Join(strings.Fields(got.String()), " ")
	for _, want := range st.want {
		if !strings.Contains(printed, want) {
			return fmt.Errorf("%s did not print %q", st.line, want)
		}
	}
	return nil
}

// start leaves a command running until stop; it must live for a moment, or its last words are the error.
func (s *shell) start(st step) error {
	var log bytes.Buffer
	c := s.command(st)
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		return fmt.Errorf("%s: %w", st.line, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		return fmt.Errorf("%s ended at once: %v\n%s", st.line, err, log.String())
	case <-time.After(2 * time.Second):
	}
	s.running = append(s.running, c)
	return nil
}

func (s *shell) command(st step) *exec.Cmd {
	name := st.words[0]
	if strings.Contains(name, "/") {
		name = filepath.Join(s.dir, filepath.FromSlash(name))
	} else {
		for _, dir := range filepath.SplitList(s.getenv("PATH")) {
			if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				name = found
				break
			}
		}
	}
	c := exec.CommandContext(s.ctx, name, st.words[1:]...)
	c.Dir, c.Env = s.dir, s.env
	return c
}

// stop ends what start left running.
func (s *shell) stop() {
	for _, c := range s.running {
		// An error means that the process has ended by itself.
		_ = c.Process.Kill()
	}
}
