package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// startFails starts a control plane that must fail, and checks that nothing of it is left.
func startFails(t *testing.T, assets Assets, o StartOptions) error {
	t.Helper()
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	cp, err := Start(t.Context(), assets, o)
	if err == nil {
		_ = cp.Stop()
		t.Fatal("started, should have failed")
	}
	if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
		t.Errorf("a failed start left %v", left)
	}
	return err
}

func wantFailure(t *testing.T, err error, program, cause string, line string) {
	t.Helper()
	var f *Failure
	if !errors.As(err, &f) {
		t.Fatalf("not a Failure: %v", err)
	}
	if f.Program != program || f.Cause != cause {
		t.Errorf("%s failed because %q, want %s because %q\n%v", f.Program, f.Cause, program, cause, err)
	}
	if !strings.Contains(err.Error(), line) {
		t.Errorf("no %q in: %v", line, err)
	}
	if strings.Contains(strings.Join(f.Lines, "\n"), "/"+runPrefix+"-") {
		t.Errorf("a removed directory in: %v", err)
	}
	if len(f.Lines) > tailLines {
		t.Errorf("%d lines of the log in the error", len(f.Lines))
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	assets := fakeAssets(t)
	for _, c := range []struct{ name, etcd, api, program, cause, line string }{
		{"port of etcd", "listen tcp 127.0.0.1:1: bind: address already in use", "hang", Etcd, causePort, "bind: address already in use"},
		{"port of the API server", "hang", "failed to listen on 127.0.0.1:1: bind: address already in use", KubeAPIServer, causePort, "line 29 of the log"},
		{"disk", "wal: write /x: no space left on device", "hang", Etcd, causeDisk, "no space left on device"},
		{"killed", "hang", "killed", KubeAPIServer, causeMemory, "signal: killed"},
		{"memory", "hang", "fatal error: runtime: cannot allocate memory", KubeAPIServer, causeMemory, "cannot allocate"},
		{"rights", "open /x: permission denied", "hang", Etcd, causeRights, "permission denied"},
		{"library", "etcd: error while loading shared libraries: libc.so.6", "hang", Etcd, causeLibrary, "libc.so.6"},
		{"unknown", "hang", "something else", KubeAPIServer, "", "something else"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.name == "killed" {
				t.Skip("Windows does not end processes by signals")
			}
			t.Parallel()
			environ := append(os.Environ(), "FAKE_ETCD="+c.etcd, "FAKE_KUBE_APISERVER="+c.api)
			err := startFails(t, assets, StartOptions{Environ: environ})
			wantFailure(t, err, c.program, c.cause, c.line)
		})
	}
}

// TestFailureNamesEtcd has both servers end: the API server's end follows from etcd's.
func TestFailureNamesEtcd(t *testing.T) {
	t.Parallel()
	environ := append(os.Environ(), "FAKE_ETCD=broken data", "FAKE_KUBE_APISERVER=no etcd")
	err := startFails(t, fakeAssets(t), StartOptions{Environ: environ})
	var f *Failure
	if !errors.As(err, &f) {
		t.Fatal(err)
	}
	if f.Program == KubeAPIServer && !strings.Contains(err.Error(), "no etcd") || f.Program == Etcd && !strings.Contains(err.Error(), "broken data") {
		t.Errorf("the log of another server: %v", err)
	}
}

func TestNeverReady(t *testing.T) {
	t.Parallel()
	environ := append(os.Environ(), "FAKE_ETCD=hang", "FAKE_KUBE_APISERVER=hang")
	err := startFails(t, fakeAssets(t), StartOptions{Environ: environ, Timeout: 5 * time.Second}) // within which the fake starts on a busy machine
	wantFailure(t, err, KubeAPIServer, "", "not ready within 5s")
	wantFailure(t, err, KubeAPIServer, "", "waiting for nothing")
}

func TestCannotRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows reports other errors for files that are not programs")
	}
	wrong := fakeAssets(t)
	replace(t, wrong.Path(Etcd), "\x7fELF but no more", 0o755)
	wantFailure(t, startFails(t, wrong, StartOptions{}), Etcd, causeFormat, "exec format error")

	interpreter := fakeAssets(t)
	replace(t, interpreter.Path(Etcd), "#!/no/such/interpreter\n", 0o755)
	wantFailure(t, startFails(t, interpreter, StartOptions{}), Etcd, causeMissing, "no such file or directory")

	missing := fakeAssets(t)
	replace(t, missing.Path(KubeAPIServer), "x", 0o644)
	if err := startFails(t, missing, StartOptions{}); !strings.Contains(err.Error(), "the assets have no kube-apiserver") {
		t.Error(err)
	}
}

func replace(t *testing.T, file, content string, mode os.FileMode) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// occupied returns a port that is in use until the test ends.
func occupied(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// TestRealPortInUse runs into a port that another program has, at first or always.
func TestRealPortInUse(t *testing.T) {
	t.Parallel()
	taken := occupied(t)
	calls := 0
	startReal(t, StartOptions{ports: func(n int) ([]int, error) {
		ports, err := FreePorts(n)
		if calls++; calls <= 2 && err == nil {
			ports[calls-1] = taken // etcd's first, then the API server's
		}
		return ports, err
	}})
	if calls != 3 {
		t.Errorf("ports were chosen %d times", calls)
	}

	skipIfShort(t)
	assets, err := realAssets()
	if err != nil {
		t.Fatal(err)
	}
	for i, program := range []string{Etcd, KubeAPIServer} {
		err := startFails(t, assets, StartOptions{ports: func(n int) ([]int, error) {
			ports, err := FreePorts(n)
			ports[i] = taken
			return ports, err
		}})
		wantFailure(t, err, program, causePort, fmt.Sprintf("127.0.0.1:%d", taken))
	}
}

// TestRealDataDir starts with a data directory that cannot be used.
func TestRealDataDir(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	assets, err := realAssets()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err = startFails(t, assets, StartOptions{EtcdArgs: []string{"--data-dir=" + filepath.Join(file, "data")}})
	wantFailure(t, err, Etcd, "", "not a directory")
	if _, err := Start(t.Context(), assets, StartOptions{TempDir: filepath.Join(file, "x")}); err == nil {
		t.Error("started in a directory that is a file")
	}
}

// TestRealBadFlag checks an error that only the log explains.
func TestRealBadFlag(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	assets, err := realAssets()
	if err != nil {
		t.Fatal(err)
	}
	err = startFails(t, assets, StartOptions{APIServerArgs: []string{"--no-such-flag"}})
	wantFailure(t, err, KubeAPIServer, "", "unknown flag: --no-such-flag")
}

func TestRunTied(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	command := Command{Dir: t.TempDir(), Env: os.Environ(), Name: self, Args: []string{"-test.run=^$"}, Stdout: &out}
	if err := RunTied(t.Context(), command); err != nil || !strings.Contains(out.String(), "PASS") {
		t.Errorf("%v, %s", err, &out)
	}
	command.Args = []string{"-no.such.flag"}
	if err := RunTied(t.Context(), command); err == nil {
		t.Error("a program that fails gives no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	canceled := &cancelOnWrite{cancel: cancel}
	command.Args, command.Env, command.Stdout = nil, append(os.Environ(), buildVariable+"="+t.TempDir()), canceled
	if err := RunTied(ctx, command); err == nil {
		t.Error("a program that is canceled gives no error")
	}
	if !canceled.written {
		t.Error("the program did not run")
	}
}

// cancelOnWrite cancels as soon as a program writes.
type cancelOnWrite struct {
	cancel  context.CancelFunc
	written bool
}

func (c *cancelOnWrite) Write(p []byte) (int, error) {
	c.written = true
	c.cancel()
	return len(p), nil
}

// TestRelativeAssets has a directory that is relative to the working directory, not to the servers' own.
func TestRelativeAssets(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	assets := fakeAssets(t)
	if assets.Dir, err = filepath.Rel(here, assets.Dir); err != nil {
		t.Skipf("on Windows, the temporary directory can be on another drive: %v", err)
	}
	err = startFails(t, assets, StartOptions{Environ: append(os.Environ(), "FAKE_ETCD=it ran", "FAKE_KUBE_APISERVER=hang")})
	wantFailure(t, err, Etcd, "", "it ran")
}
