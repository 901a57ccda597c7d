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

	"github.com/operon-sdk/operon/testdata/console"
)

// shell runs commands. cd, mkdir and export are built in.
type shell struct {
	ctx      context.Context
	dir, tmp string
	env      []string
	out      io.Writer
	running  []*background
	// shown is the output of the last command that printed an object as YAML.
	shown string
	// recorded is what a reader sees; it may be nil.
	recorded *recording
}

// newShell returns a shell that starts in dir. Its commands create their temporary files in dir/tmp.
func newShell(ctx context.Context, dir string, out io.Writer) (*shell, error) {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") // of the calling make
	})
	s := &shell{ctx: ctx, dir: dir, tmp: filepath.Join(dir, "tmp"), env: env, out: out}
	s.setenv("TMPDIR", s.tmp)
	return s, os.Mkdir(s.tmp, 0o700)
}

func (s *shell) setenv(key, value string) { s.env = append(s.env, key+"="+value) }

// path prepends directories to PATH.
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

func (s *shell) step(st console.Step) error {
	if st.Heading != "" {
		fmt.Fprintf(s.out, "\n==> %s\n", st.Heading)
	}
	switch {
	case st.Language == "diff":
		fmt.Fprint(s.out, st.Code)
		return console.Edit(s.dir, st.Code)
	case st.Line == "": // an example
		return nil
	case st.Interrupt:
		fmt.Fprintln(s.out, st.Line)
		return s.interrupt(st.Want)
	}
	fmt.Fprintf(s.out, "$ %s\n", st.Line)
	switch st.Words[0] {
	case "cd", "mkdir", "export":
		s.recorded.add(st.Line, "", 0)
		return s.builtIn(st.Words[0], st.Words[1])
	}
	if st.Background {
		return s.start(st)
	}
	return s.run(st)
}

// builtIn runs a command that changes the shell itself, or that not every system has.
func (s *shell) builtIn(command, argument string) error {
	switch command {
	case "mkdir":
		return os.Mkdir(filepath.Join(s.dir, argument), 0o755)
	case "cd":
		s.dir = filepath.Join(s.dir, argument)
	case "export":
		key, value, _ := strings.Cut(argument, "=")
		s.setenv(key, value)
	}
	return nil
}

// run runs a command until it exits. The command must fail if its expected output shows an error: of
// kubectl in the first line, or of Operon after its progress.
func (s *shell) run(st console.Step) error {
	var got bytes.Buffer
	c := s.command(st)
	both := io.MultiWriter(s.out, &got) // one writer keeps the order of lines
	c.Stdout, c.Stderr = both, both
	start := time.Now()
	err := c.Run()
	if got.Len() > 0 && !bytes.HasSuffix(got.Bytes(), []byte("\n")) {
		fmt.Fprintln(s.out)
	}
	s.finish(st.Line, got.String(), time.Since(start))
	if fails(st.Want) {
		if err == nil {
			return fmt.Errorf("%s succeeded", st.Line)
		}
	} else if err != nil {
		return fmt.Errorf("%s: %w", st.Line, err)
	}
	if strings.HasSuffix(st.Line, "-o yaml") {
		s.shown = got.String()
	}
	if len(st.Want) == 0 {
		return nil
	}
	if err := console.Compare(st.Want, got.String()); err != nil {
		return fmt.Errorf("%s: %w", st.Line, err)
	}
	return nil
}

// finish records a command, and prints its time if a reader has to wait.
func (s *shell) finish(line, output string, took time.Duration) {
	s.recorded.add(line, output, took)
	if took >= 2*time.Second {
		fmt.Fprintf(s.out, "==> took %s\n", took.Round(100*time.Millisecond))
	}
}

func fails(want []string) bool {
	return len(want) > 0 && strings.HasPrefix(want[0], "Error") ||
		slices.ContainsFunc(want, func(line string) bool { return strings.HasPrefix(line, "error:") })
}

func (s *shell) command(st console.Step) *exec.Cmd {
	name := st.Words[0]
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
	c := exec.CommandContext(s.ctx, name, st.Words[1:]...)
	c.Dir, c.Env = s.dir, s.env
	return c
}
