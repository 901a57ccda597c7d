package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/afero"
	envp "sigs.k8s.io/controller-runtime/tools/setup-envtest/env"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/remote"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/store"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/workflows"
)

// indexTimeout is how long the index may take to answer. Where it is blocked, packets often vanish
// without a word.
const indexTimeout = 3 * time.Second

// archiveTimeout is how long the next part of an archive may take.
const archiveTimeout = 20 * time.Second

// download fetches the newest version that matches into the first store.
func (o *EnsureOptions) download(ctx context.Context, spec versions.Spec) (Assets, error) {
	dir := o.StoreDirs[0]
	client := newIndexClient(ctx, logr.Discard(), o.IndexURL)
	client.found = func(v versions.Concrete) { o.say("downloading etcd and kube-apiserver v%s", v) }
	var path bytes.Buffer
	env := &envp.Env{
		Log: logr.Discard(), Client: client, VerifySum: true,
		Platform: versions.PlatformItem{Platform: hostPlatform()}, Version: spec,
		FS: afero.Afero{Fs: afero.NewOsFs()}, Store: store.NewAt(dir), Out: &path,
		// What the store holds has been looked at, and found to be incomplete.
		ForceDownload: true,
	}
	if err := catchExit(func() { workflows.Use{PrintFormat: envp.PrintPath}.Do(env) }); err != nil {
		if client.reached {
			o.say("the download failed: %v", err)
		}
		return Assets{}, err
	}
	if missing := missingParts(path.String(), o.parts()); len(missing) > 0 {
		return Assets{}, fmt.Errorf("the downloaded archive has no %s", strings.Join(missing, ", "))
	}
	return Assets{Dir: path.String(), Source: FromStore, Version: env.Version.String()}, nil
}

// indexClient is upstream's client with a limit on the time that the index may take, and a memory of
// what went wrong: upstream's exits tell no difference between a missing version and no network.
type indexClient struct {
	// ctx is kept because upstream's workflows start from a context of their own.
	ctx    context.Context
	client *remote.HTTPClient
	// found is told the version that is going to be downloaded; it may be nil.
	found func(versions.Concrete)
	// reached tells that the index answered, unreachable what kept it or an archive from doing so.
	reached     bool
	unreachable error
	// fetching tells that the index has the version, so that what fails then is the archive.
	fetching bool
	// archiveTimeout is how long the next part of an archive may take.
	archiveTimeout time.Duration
}

func newIndexClient(ctx context.Context, log logr.Logger, indexURL string) *indexClient {
	return &indexClient{ctx: ctx, client: &remote.HTTPClient{Log: log, IndexURL: indexURL}, archiveTimeout: archiveTimeout}
}

// ListVersions reads the index.
func (c *indexClient) ListVersions(context.Context) ([]versions.Set, error) {
	ctx, cancel := c.limited()
	defer cancel()
	sets, err := c.client.ListVersions(ctx)
	return sets, c.note(err)
}

// FetchSum reads an archive's checksum from the index.
func (c *indexClient) FetchSum(_ context.Context, version versions.Concrete, platform *versions.PlatformItem) error {
	ctx, cancel := c.limited()
	defer cancel()
	return c.note(c.client.FetchSum(ctx, version, platform))
}

// GetVersion downloads an archive, however long that takes, while it arrives.
func (c *indexClient) GetVersion(_ context.Context, version versions.Concrete, platform versions.PlatformItem, out io.Writer) error {
	if !c.reached { // without a checksum to verify, upstream asks the index here first
		if _, err := c.ListVersions(c.ctx); err != nil {
			return err
		}
	}
	c.fetching = true
	if c.found != nil {
		c.found(version)
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	stalled := fmt.Errorf("nothing of the archive arrived within %s", c.archiveTimeout)
	timer := time.AfterFunc(c.archiveTimeout, func() { cancel(stalled) })
	defer timer.Stop()
	err := c.client.GetVersion(ctx, version, platform, &timedWriter{out, timer, c.archiveTimeout})
	if err != nil && errors.Is(context.Cause(ctx), stalled) {
		err = stalled
	}
	return c.note(err)
}

// timedWriter restarts a timer with each write.
type timedWriter struct {
	io.Writer
	timer   *time.Timer
	timeout time.Duration
}

func (w *timedWriter) Write(p []byte) (int, error) {
	w.timer.Reset(w.timeout)
	return w.Writer.Write(p)
}

func (c *indexClient) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(c.ctx, indexTimeout, fmt.Errorf("no answer within %s", indexTimeout))
}

// note remembers what an error means. Upstream's errors have no types.
func (c *indexClient) note(err error) error {
	switch {
	case err == nil:
		c.reached = true
	case strings.Contains(err.Error(), "unable to find archive for"):
		c.reached, c.fetching = true, false
	case strings.Contains(err.Error(), "checksum mismatch"):
	default:
		c.unreachable = err
	}
	return err
}

// ExitError is how a command line ends that did not succeed.
type ExitError struct {
	// Code is the process's exit code.
	Code int
	// Err is for people; nil where everything has been said.
	Err error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// catchExit runs a workflow of setup-envtest. These exit by a panic, and panic on some input.
func catchExit(workflow func()) (err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		unknown := envp.CheckRecover(cause, func(code int, cause error) {
			err = &ExitError{Code: code, Err: cause}
		})
		if unknown {
			err = &ExitError{Code: 1, Err: fmt.Errorf("setup-envtest broke down: %v", cause)}
		}
		var exit *ExitError
		if errors.As(err, &exit) && exit.Code == 0 {
			err = nil
		}
	}()
	workflow()
	return nil
}
