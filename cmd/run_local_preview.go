package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/preview"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const (
	defaultPreviewTimeout = 5 * time.Minute
	// previewQuiet is how long the manager must try nothing new. Many operators look again after 5 or 10 seconds.
	previewQuiet = 12 * time.Second
)

// checkPreview returns the findings about flags that don't fit --preview.
func (o *runLocalOptions) checkPreview(flags *pflag.FlagSet) (findings diag.Findings) {
	needs, excludes := []string{"timeout", "check"}, []string{"watch", "samples", "webhooks", "as-admin", "name"}
	names, problem := needs, "is for --preview only"
	if o.preview {
		names, problem = excludes, "has no use with --preview; leave one of them out"
	}
	for _, name := range names {
		if flags.Changed(name) {
			findings.Add("--"+name, flags.Lookup(name).Value.String(), problem)
		}
	}
	if o.preview && o.controlPlane == local.PlaneEmbedded {
		findings.Add("--control-plane", o.controlPlane, "has nothing to preview; leave it or --preview out")
	}
	if o.timeout <= 0 {
		findings.Add("--timeout", o.timeout.String(), "must be greater than zero, such as 5m")
	}
	return findings
}

// previewLocal runs the manager with dry runs instead of writes, and prints what it would change.
func (a *app) previewLocal(ctx context.Context, options *local.Options, o *runLocalOptions) error {
	out := a.print.ProgressWriter() // several goroutines print
	progressf := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	p := preview.New(preview.Options{Quiet: previewQuiet, Limit: o.timeout, Now: a.Now, Progressf: progressf, Warnf: a.print.Warnf})
	var forbidden []stage.Denial
	options.Name, options.ControlPlane = fmt.Sprintf("preview-%d", os.Getpid()), local.PlaneKubeconfig
	options.Webhooks = false
	options.Progress = func(message string) { progressf("%s", message) }
	options.Denied = func(d stage.Denial) { forbidden = append(forbidden, d) }
	options.Log.Out, options.Log.Compact, options.Log.Color = out, o.logs != logsFull, false
	options.Preview = p.Begin
	options.Drive = func(ctx context.Context, s *local.Session) error {
		progressf("the manager's writes to the cluster are dry runs; what it does elsewhere is real. Waiting until it tries nothing new; press Ctrl-C to end sooner")
		var awaited []string
		for _, r := range options.Config.Resources() {
			if name := strings.TrimSuffix(r.Plural+"."+r.APIGroup(), "."); options.Config.Reconciles(r) && !p.Misses(name) {
				awaited = append(awaited, name)
			}
		}
		return p.Wait(ctx, stage.AwaitWatches(awaited, s.Requests), s.Busy)
	}
	err := local.Run(ctx, *options)
	result := p.Result()
	if err != nil && (ctx.Err() != nil || !result.Differs() && len(forbidden) == 0) {
		return env.Interrupted(ctx, err)
	}
	return errors.Join(a.printPreview(result, forbidden, o.check), err)
}

// printPreview prints what the manager would change. With check, it returns an error if that is anything.
func (a *app) printPreview(r *preview.Result, forbidden []stage.Denial, check bool) error {
	if _, err := fmt.Fprint(a.print.TextOut(), worktree.Diff(r.Changes)); err != nil {
		return err
	}
	for _, d := range forbidden {
		a.print.Warnf("forbidden: this user has no permission to %s, and so the preview may lack something", d)
	}
	for _, text := range r.Refused {
		a.print.Warnf("refused: %s", text)
	}
	for _, text := range r.Unknown {
		a.print.Warnf("%s", text)
	}
	if r.Repeated > 0 {
		a.print.Progressf("left out: %s like those above, and %s", diag.Count(r.Repeated, "write"), diag.Count(r.Events, "Event"))
	}
	if r.Unchanged > 0 {
		a.print.Progressf("the manager would write %s without changing anything", diag.Count(r.Unchanged, "object"))
	}
	a.print.Progressf("the manager would create %s, change %d and delete %d; nothing in the cluster was changed", diag.Count(r.Created, "object"), r.Changed, r.Deleted)
	if check && (r.Differs() || len(forbidden) > 0) {
		return errors.New("the manager would change the cluster, or it isn't known whether it would; review the changes, or leave out --check")
	}
	return nil
}
