// Package images opens, builds, writes and pushes images for commands: it has their flags for registries and destinations, and prints
// what takes long.
package images

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
)

// Registry contains the flags of commands that use registries.
type Registry struct {
	insecure, mirrors []string
	// total is the maximum duration of the command; zero is no limit.
	total time.Duration
}

// AddTo adds the flags.
func (o *Registry) AddTo(f *pflag.FlagSet) {
	o.AddHosts(f)
	f.DurationVar(&o.total, "timeout", 0, "maximum `duration` of the command, such as 5m (default: no limit)")
}

// AddHosts adds the flags other than --timeout.
func (o *Registry) AddHosts(f *pflag.FlagSet) {
	f.StringSliceVar(&o.insecure, "insecure-registry", nil, "registry `hosts` to contact over plain HTTP or without verifying certificates, credentials included")
	f.StringSliceVar(&o.mirrors, "registry-mirror", nil, "`registry=mirror` pairs: hosts to try before the registry itself")
}

// Check validates the flags.
func (o *Registry) Check() (findings diag.Findings) {
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

// Within runs a command whose context ends after --timeout.
func (o *Registry) Within(c *cobra.Command, run func() error) error {
	if o.total <= 0 {
		return run()
	}
	cause := &timeoutError{o.total}
	ctx, cancel := context.WithTimeoutCause(c.Context(), o.total, cause)
	defer cancel()
	c.SetContext(ctx)
	err := run()
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*timeoutError)) {
		return cause
	}
	return err
}

// timeoutError ends a command after --timeout.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("not done within --timeout %s", e.after) }
func (e *timeoutError) Unwrap() error { return context.DeadlineExceeded }

// Access returns the access to registries.
func (o *Registry) Access(p *output.Printer) image.Registries {
	r := image.Registries{
		Transport: p.HTTP, PlainHTTP: o.insecure, SkipVerify: o.insecure, Mirrors: map[string]string{}, Notify: p.Waiting(),
		Settings: image.Settings{FS: p.FS, Getenv: p.Getenv, Run: p.RunHelper},
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

// Options returns the options for access to images.
func (o *Registry) Options(p *output.Printer) image.Options {
	return image.Options{Registries: o.Access(p), FS: p.FS, Dir: p.Dir}
}
