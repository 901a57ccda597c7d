package gotool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Build compiles a package: "go build" with the flags in Args. what describes the step in lines that count the packages while it takes long.
// The error is a *MissingError if modules can't be downloaded, or an *Error with what the compiler printed.
func (g Go) Build(ctx context.Context, c Command, pkg, what string) error {
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	c.compiled = &compiled{what: what}
	// Most builds are done before anybody asks.
	c.compiled.list = sync.OnceFunc(func() {
		wg.Go(func() { c.compiled.setTotal(g.countPackages(ctx, c, pkg)) })
	})
	c.Args = slices.Concat([]string{"build", "-v"}, c.Args, []string{pkg})
	_, err := g.Run(ctx, c)
	if _, silent := errors.AsType[exitError](err); silent && ctx.Err() == nil {
		return fmt.Errorf("go build %s: %w", pkg, err)
	}
	return err
}

// An exitError is the error of a command that ended with an exit code, such as an *exec.ExitError.
type exitError interface {
	error
	ExitCode() int
}

// countPackages returns how many packages a package consists of, or 0 if that isn't known.
func (g Go) countPackages(ctx context.Context, c Command, pkg string) int {
	var out bytes.Buffer
	if g.Start(ctx, c.Dir, c.Variables, &out, io.Discard, "list", "-deps", pkg) != nil {
		return 0
	}
	return bytes.Count(out.Bytes(), []byte("\n"))
}

// compiled counts the packages that "go build -v" compiles.
type compiled struct {
	what string
	// list finds out how many there are at most.
	list func()

	mu           sync.Mutex
	count, total int
}

func (c *compiled) setTotal(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total = n
}

// describe says how far the build is, or "" before the first package. Packages in the build cache aren't compiled.
func (c *compiled) describe() string {
	c.list()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.count == 0:
		return ""
	case c.total == 0:
		return fmt.Sprintf("%s: %s compiled", c.what, diag.Count(c.count, "package"))
	}
	return fmt.Sprintf("%s: %s compiled (at most %d)", c.what, diag.Count(c.count, "package"), max(c.count, c.total))
}

// filter returns a writer that counts the lines with paths of packages, and passes the others on to w. Unlike messages, paths have no spaces
// and colons.
func (c *compiled) filter(w io.Writer) *lines {
	return &lines{each: func(line []byte) (err error) {
		if text := strings.TrimRight(string(line), "\r\n"); text == "" || strings.ContainsAny(text, " \t:") {
			_, err = w.Write(line)
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.count++
		return nil
	}}
}
