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

// indexTimeout is the timeout of the index. Where it is blocked, packets are often dropped.
const indexTimeout = 3 * time.Second

// archiveTimeout is the timeout of each part of an archive.
const archiveTimeout = 20 * time.Second

// download downloads the newest matching version to the first store.
func (o *EnsureOptions) download(ctx context.Context, spec versions.Spec) (Assets, error) {
	dir := o.StoreDirs[0]
	client := newIndexClient(ctx, logr.Discard(), o.IndexURL)
	client.found = func(v versions.Concrete) { o.reportf("downloading etcd and kube-apiserver v%s", v) }
	spec.CheckLatest = true // an incomplete version in the store is no reason to choose the same again
	var path bytes.Buffer
	env := &envp.Env{
		Log: logr.Discard(), Client: client, VerifySum: true,
		Platform: versions.PlatformItem{Platform: hostPlatform()}, Version: spec,
		FS: afero.Afero{Fs: afero.NewOsFs()}, Store: store.NewAt(dir), Out: &path,
		// The version in the store is incomplete.
		ForceDownload: true,
	}
	if err := catchExit(func() { workflows.Use{PrintFormat: envp.PrintPath}.Do(env) }); err != nil {
		if client.reached {
			o.reportf("the download failed: %v", err)
		}
		return Assets{}, err
	}
	if missing := missingParts(path.String(), o.parts()); len(missing) > 0 {
		return Assets{}, fmt.Errorf("the downloaded archive has no %s", strings.Join(missing, ", "))
	}
	return Assets{Dir: path.String(), Source: fromStore, Version: env.Version.String()}, nil
}

// indexClient is upstream's client with timeouts. It records the kind of errors, as upstream does not distinguish a missing version
// from a missing network.
type indexClient struct {
	// ctx is stored because upstream's workflows use their own context.
	ctx    context.Context
	client *remote.HTTPClient
	// found is called with the version before its download; it may be nil.
	found func(versions.Concrete)
	// reached reports whether the index responded; unreachable is the error if it or an archive did not.
	reached     bool
	unreachable error
	// fetching reports whether the index has the version, so that later errors are about the archive.
	fetching bool
	// archiveTimeout is the timeout of each part of an archive.
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

// GetVersion downloads an archive. The time is not limited while data arrives.
func (c *indexClient) GetVersion(_ context.Context, version versions.Concrete, platform versions.PlatformItem, out io.Writer) error {
	if !c.reached { // without verification, upstream reads the index here first
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
	stalled := fmt.Errorf("no data of the archive received within %s", c.archiveTimeout)
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
	return context.WithTimeoutCause(c.ctx, indexTimeout, fmt.Errorf("no response within %s", indexTimeout))
}

// note records the kind of an error. Upstream's errors have no types.
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

// An ExitError is the error of a command line.
type ExitError struct {
	// Code is the exit code of the process.
	Code int
	// Err is printed; nil if the cause was printed already.
	Err error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// catchExit runs a workflow of setup-envtest, which exits by a panic, and panics on some input.
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
			err = &ExitError{Code: 1, Err: fmt.Errorf("setup-envtest panicked: %v", cause)}
		}
		var exit *ExitError
		if errors.As(err, &exit) && exit.Code == 0 {
			err = nil
		}
	}()
	workflow()
	return nil
}
