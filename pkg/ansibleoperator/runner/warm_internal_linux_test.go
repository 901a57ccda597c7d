package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/testdata/ansible"
)

// newWarmRunner returns a Runner, a request for it, and the number of its messages about the end of a warm interpreter.
func newWarmRunner(t *testing.T, variables ...string) (*Runner, Request, *atomic.Int32) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts ansible-runner")
	}
	ansible.Require(t)
	playbook := filepath.Join(t.TempDir(), "site.yml")
	if err := os.WriteFile(playbook, []byte("- {hosts: localhost, gather_facts: false, tasks: [{debug: {msg: hello}}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ends := &atomic.Int32{}
	r, err := New(Config{
		Root: filepath.Join(t.TempDir(), "runs"), Dir: t.TempDir(), Environ: append(os.Environ(), variables...),
		Log: funcr.New(func(prefix, args string) {
			if strings.Contains(args, "runs start new") {
				ends.Add(1)
			}
			t.Log(prefix, args)
		}, funcr.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, Request{
		GVK: schema.GroupVersionKind{Version: "v1", Kind: "App"}, Key: types.NamespacedName{Name: "one"}, Playbook: playbook,
		Kubeconfig: []byte("apiVersion: v1\nkind: Config\n"),
	}, ends
}

func (r *Runner) mustRun(t *testing.T, request Request) {
	t.Helper()
	if result, err := r.Run(t.Context(), request); err != nil || result.Failed() {
		t.Fatalf("%+v, %v", result, err)
	}
}

// TestWarmRestart kills a warm interpreter, which is started again after a pause, each time.
func TestWarmRestart(t *testing.T) {
	t.Parallel()
	r, request, ends := newWarmRunner(t)
	for i := range int32(2) {
		r.warm.pause = 0
		r.mustRun(t, request)
		process := r.warm.process
		if !process.usable {
			t.Fatalf("after %d ends, no interpreter is usable", i)
		}
		if err := process.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-process.ended
		r.warm.pause = time.Hour
		r.mustRun(t, request)
		if r.warm.process != process || ends.Load() != i+1 {
			t.Errorf("an interpreter was started before the end of the pause, or there are %d messages, want %d", ends.Load(), i+1)
		}
	}
}

// TestWarmLoading checks that an interpreter that does not end to load Ansible blocks neither runs nor the end of the Runner.
func TestWarmLoading(t *testing.T) {
	t.Parallel()
	modules := t.TempDir()
	if err := os.WriteFile(filepath.Join(modules, "kubernetes.py"), []byte("import time\ntime.sleep(1000)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, request, _ := newWarmRunner(t, "PYTHONPATH="+modules)
	r.warm.load = time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the custom resource was deleted")
	for _, end := range []func(){func() { cancel(cause) }, r.close} {
		done := make(chan error, 1)
		go func() {
			_, err := r.Run(ctx, request)
			done <- err
		}()
		select {
		case err := <-done:
			t.Fatalf("the run ended before: %v", err)
		case <-time.After(time.Millisecond):
			end()
		}
		if err := <-done; !errors.Is(err, cause) && !errors.Is(err, errClosed) {
			t.Error(err)
		}
		ctx = t.Context()
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	r, request, _ = newWarmRunner(t, "PYTHONPATH="+modules)
	r.warm.load = 0
	r.mustRun(t, request)
}

// TestWarmHangs checks that a supervisor that a warm interpreter does not start can be killed.
func TestWarmHangs(t *testing.T) {
	t.Parallel()
	r, request, ends := newWarmRunner(t)
	<-r.warm.process.ready
	if err := r.warm.process.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s, err := r.start(t.Context(), []string{"true"}, r.env.runEnviron(nil), "ident", t.TempDir(), &tail{limit: 1024}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.kill()
	if ended := <-s.ended; !ended.unstarted {
		t.Errorf("%+v", ended)
	}
	<-r.warm.process.ended
	r.mustRun(t, request)
	if ends.Load() != 1 {
		t.Errorf("%d messages about its end", ends.Load())
	}
}
