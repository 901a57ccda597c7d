// Package gotool runs the go command in a project. Go.Run works without network if the module cache has the required
// modules, downloads them otherwise, and returns the same result in both cases. Tidy, Get, Download and Vendor run
// subcommands on a worktree.Tree.
package gotool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Go runs the go command.
type Go struct {
	// Start runs the go command in dir, with variables added to the environment.
	Start func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error
	// Offline forbids downloads.
	Offline bool
	// Progress receives a line for each module that is downloaded.
	Progress io.Writer
	// Counting runs a step, and prints what describe returns while the step takes long. Nil prints nothing.
	Counting func(describe func() string, step func() error) error
}

// Command is a call of the go command.
type Command struct {
	// Dir is the working directory, Mod the content of the go.mod that applies to it.
	Dir string
	Mod []byte
	// Variables are added to the environment.
	Variables []string
	Args      []string

	// before, if not nil, runs before each attempt.
	before func() error
	// compiled counts packages; see Go.Build.
	compiled *compiled
}

// Error is the output of a failed go command.
type Error struct {
	Args []string
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("go %s: %s", e.Args[0], e.Text) }

// Run returns the stdout of a command. If the module cache lacks modules, the command runs with network to download
// them, and again without, so that the result never depends on a proxy. The error is a *MissingError if the modules
// cannot be downloaded, or an *Error if the command fails for another reason.
func (g Go) Run(ctx context.Context, c Command) ([]byte, error) {
	s, err := g.settings(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	first := g.attempt(ctx, c, s.offline(), io.Discard)
	if first.err != nil || !first.lacksModules() {
		return first.result()
	}
	missing := &MissingError{Modules: s.missing(c.Mod, first.text()), Forbidden: g.forbidden(s)}
	if missing.Forbidden != "" {
		return nil, missing
	}
	download := g.attempt(ctx, c, nil, downloads(g.Progress))
	if download.err != nil {
		return nil, download.err
	}
	last := g.attempt(ctx, c, s.offline(), io.Discard)
	if last.err != nil || !last.lacksModules() {
		return last.result()
	}
	missing.Modules = s.missing(c.Mod, last.text())
	missing.Reason = download.reason()
	return nil, missing
}

func (g Go) counting(describe func() string, step func() error) error {
	if g.Counting == nil {
		return step()
	}
	return g.Counting(describe, step)
}

// forbidden returns the setting that forbids downloads, or "".
func (g Go) forbidden(s settings) string {
	switch {
	case g.Offline:
		return offlineFlag
	case s.Proxy == "off":
		return "GOPROXY=off"
	}
	return ""
}

// An attempt is the result of one run of a command.
type attempt struct {
	args           []string
	stdout, stderr bytes.Buffer
	failed         bool
	// err is set if the command did not run to its end.
	err error
}

func (g Go) attempt(ctx context.Context, c Command, variables []string, progress io.Writer) *attempt {
	a := &attempt{args: c.Args}
	if c.before != nil {
		if a.err = c.before(); a.err != nil {
			return a
		}
	}
	errOut, describe := io.MultiWriter(&a.stderr, progress), func() string { return step(c.Args) }
	if c.compiled != nil {
		errOut, describe = c.compiled.filter(errOut), c.compiled.describe
	}
	err := g.counting(describe, func() error {
		return g.Start(ctx, c.Dir, append(c.Variables[:len(c.Variables):len(c.Variables)], variables...), &a.stdout, errOut, c.Args...)
	})
	if filter, ok := errOut.(*lines); ok {
		_ = filter.end() // what it passes on goes to a buffer
	}
	if ctx.Err() != nil {
		a.err = ctx.Err()
	} else if err != nil && a.stderr.Len() == 0 {
		a.err = err // not started, or killed
	}
	a.failed = err != nil
	return a
}

func (a *attempt) text() string { return a.stderr.String() + "\n" + a.stdout.String() }

// lookupDisabled is what the go command prints if it would have to download something.
const lookupDisabled = "module lookup disabled by GOPROXY=off"

// lacksModules reports whether the command would have to download modules or their checksums.
func (a *attempt) lacksModules() bool {
	downloaded := false // the module of the current JSON object is in the module cache
	for line := range strings.Lines(a.text()) {
		switch text := strings.TrimSpace(line); {
		case text == "{", text == `"Module": {`, text == `"Replace": {`:
			downloaded = false
		case strings.HasPrefix(text, `"Dir": `):
			downloaded = true
		case downloaded && text == `"Err": "`+lookupDisabled+`"`:
			continue // only the time of the release is missing, which nothing uses: go build doesn't get its .info file
		}
		// A package that no required module provides is an error in the code: the answer of a proxy would depend on the date.
		if !strings.Contains(line, "cannot find module providing package") &&
			(strings.Contains(line, lookupDisabled) || strings.Contains(line, noChecksums)) {
			return true
		}
	}
	return false
}

func (a *attempt) result() ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	if a.failed {
		// No proxy is asked for a package that no required module provides: see lacksModules.
		text := strings.ReplaceAll(a.stderr.String(), ": "+lookupDisabled, "")
		return nil, &Error{Args: a.args, Text: strings.TrimSpace(text)}
	}
	return a.stdout.Bytes(), nil
}

// reason returns the first error that the command printed, after a colon.
func (a *attempt) reason() string {
	for line := range strings.Lines(a.stderr.String()) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "go: "))
		if i := strings.Index(line, ": "); i > 0 {
			return ": " + line
		}
	}
	return ""
}

// settings are the variables that determine the source of modules.
type settings struct {
	ModCache  string `json:"GOMODCACHE"`
	Proxy     string `json:"GOPROXY"`
	Checksums string `json:"GOSUMDB"`
}

func (g Go) settings(ctx context.Context, dir string) (settings, error) {
	var s settings
	env := g.attempt(ctx, Command{Dir: dir, Args: []string{"env", "-json", "GOMODCACHE", "GOPROXY", "GOSUMDB"}}, nil, io.Discard)
	out, err := env.result()
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("reading the output of go env: %w", err)
	}
	return s, nil
}

// noChecksums is the URL of a checksum database that does not exist.
const noChecksums = "file:///no-checksums-without-network"

// offline returns the variables that disable the network for the go command. With GOPROXY=off alone it would look up
// checksums of modules that go.sum does not list. Cached checksums are used.
func (s settings) offline() []string {
	variables := []string{"GOPROXY=off"}
	name, _, _ := strings.Cut(s.Checksums, " ")
	switch name {
	case "off":
		return variables
	case "sum.golang.google.cn": // another address of the same database
		name = "sum.golang.org"
	}
	return append(variables, "GOSUMDB="+name+" "+noChecksums)
}

// downloads returns a writer that passes on lines about downloads.
func downloads(w io.Writer) io.Writer {
	return &lines{each: func(line []byte) (err error) {
		if text, ok := bytes.CutPrefix(line, []byte("go: downloading ")); ok {
			_, err = fmt.Fprintf(w, "downloading %s", text)
		}
		return err
	}}
}
