package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/transport"
)

// openBundle opens the bundle of an argument DIR|IMAGE: a directory, an OCI layout, a tarball, or an image in a registry.
// Existing files take precedence, and paths that do not exist are not looked up in registries. The error contains the fix,
// and the name only for images. It is a usage error if nothing has that name.
func (a *app) openBundle(ctx context.Context, dir, arg string, registries image.Registries) (*image.Bundle, error) {
	abs := absolute(dir, arg)
	info, err := a.FS.Stat(abs)
	switch {
	case arg == "":
		return nil, diag.Usage(errors.New("the name of a bundle is empty; pass a directory or an image"))
	case err == nil && info.IsDir() && !image.IsLayout(a.FS, abs):
		name := filepath.ToSlash(abs)
		if rel, err := filepath.Rel(dir, abs); err == nil && !action.IsOutside(filepath.ToSlash(rel)) {
			name = filepath.ToSlash(rel)
		}
		return image.OpenDirectory(a.FS, abs, name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, diag.Finding{Position: diag.Position{File: filepath.ToSlash(arg)}, Problem: diag.Cause(err).Error(), Err: err}
	}
	opened, err := image.Open(ctx, arg, image.Options{Registries: registries, FS: a.FS, Dir: dir})
	if errors.Is(err, fs.ErrNotExist) && info == nil && !strings.ContainsAny(arg, ":@") {
		return nil, diag.Usage(fmt.Errorf("no such file or directory; '%s generate bundle' writes a bundle, and images have the form registry/name:tag", a.program))
	}
	if err != nil && info != nil && info.Mode().IsRegular() {
		err = diag.Finding{
			Position: diag.Position{File: filepath.ToSlash(arg)},
			Problem:  fmt.Sprintf("must be the directory of a bundle or the archive of an image: %v", err), Err: err,
		}
	}
	return opened, err
}

// registryOptions are the flags of commands that use registries.
type registryOptions struct {
	insecure, mirrors []string
	// total is the maximum duration of the command; zero is no limit.
	total time.Duration
}

func (o *registryOptions) addTo(f *pflag.FlagSet) {
	o.addHosts(f)
	f.DurationVar(&o.total, "timeout", 0, "maximum `duration` of the command, such as 5m (default: no limit)")
}

// addHosts adds the flags other than --timeout.
func (o *registryOptions) addHosts(f *pflag.FlagSet) {
	f.StringSliceVar(&o.insecure, "insecure-registry", nil, "registry `hosts` to contact over plain HTTP or without verifying certificates, credentials included")
	f.StringSliceVar(&o.mirrors, "registry-mirror", nil, "`registry=mirror` pairs: hosts to try before the registry itself")
}

// check validates the flags.
func (o *registryOptions) check() (findings diag.Findings) {
	for _, pair := range o.mirrors {
		if from, to, ok := strings.Cut(pair, "="); !ok || from == "" || to == "" {
			findings.Add("--registry-mirror", pair, "must be registry=mirror, such as docker.io=mirror.example.com")
		}
	}
	if o.total < 0 {
		findings.Add("--timeout", o.total.String(), "must not be negative")
	}
	return findings
}

// within runs a command whose context ends after --timeout.
func (o *registryOptions) within(c *cobra.Command, run func() error) error {
	if o.total <= 0 {
		return run()
	}
	cause := &timeoutError{o.total}
	ctx, cancel := context.WithTimeoutCause(c.Context(), o.total, cause)
	defer cancel()
	c.SetContext(ctx)
	err := run()
	if errors.Is(err, context.DeadlineExceeded) && !is[*timeoutError](err) {
		return cause
	}
	return err
}

// timeoutError ends a command after --timeout.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("not done within --timeout %s", e.after) }
func (e *timeoutError) Unwrap() error { return context.DeadlineExceeded }

// runHelper runs a credential helper.
func (a *app) runHelper(ctx context.Context, in io.Reader, out io.Writer, name string, args ...string) error {
	return a.Run(ctx, Command{Environ: a.Environ, In: in, Out: out, Name: name, Args: args})
}

// registries returns the access to registries.
func (a *app) registries(o registryOptions) image.Registries {
	r := image.Registries{
		Transport: a.HTTP, PlainHTTP: o.insecure, SkipVerify: o.insecure, Mirrors: map[string]string{}, Notify: a.waiting(),
		Settings: image.Settings{FS: a.FS, Getenv: a.Getenv, Run: a.runHelper},
	}
	for _, pair := range o.mirrors {
		from, to, _ := strings.Cut(pair, "=")
		if from == "docker.io" {
			from = "index.docker.io"
		}
		r.Mirrors[from] = to
	}
	return r
}

// limitedHTTP is HTTP with limits on the time that servers may take. It reports what it waits for.
func (a *app) limitedHTTP() http.RoundTripper {
	return &transport.Transport{Base: a.HTTP, Notify: a.waiting()}
}

// waiting returns a function that prints once which host is waited for.
func (a *app) waiting() func(host, waitingFor string) {
	var mu sync.Mutex
	printed := map[string]bool{}
	return func(host, waitingFor string) {
		mu.Lock()
		defer mu.Unlock()
		line := fmt.Sprintf("waiting for %s %s", host, waitingFor)
		if printed[line] {
			return
		}
		printed[line] = true
		if a.ErrTerminal {
			line = "\r\x1b[K" + line // in the place of the progress of a push
		}
		a.progressf("%s", line)
	}
}
