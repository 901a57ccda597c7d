package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The test binary plays other programs too: under the names etcd and kube-apiserver a server that
// fails as FAKE_ETCD or FAKE_KUBE_APISERVER specifies, and with holdVariable a process that starts a control plane
// and waits to be killed.
const (
	holdVariable       = "OPERON_TEST_HOLD"
	holdAssetsVariable = "OPERON_TEST_HOLD_ASSETS"
)

func TestMain(m *testing.M) {
	if assets, ours := IsAPIServer(os.Getenv, os.Args[1:]); ours {
		os.Exit(asAPIServer(assets))
	}
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if name == Etcd || name == KubeAPIServer {
		os.Exit(fakeServer(name, os.Getenv(fakeVariable(name))))
	}
	if dir := os.Getenv(holdVariable); dir != "" {
		os.Exit(holdControlPlane(dir))
	}
	if cache := os.Getenv(buildVariable); cache != "" {
		os.Exit(buildForever(cache))
	}
	os.Exit(m.Run())
}

func fakeVariable(name string) string {
	return "FAKE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// fakeServer does what behavior specifies: "hang" after writing its process id into its directory, "killed",
// or the text of a last line.
func fakeServer(name, behavior string) int {
	switch behavior {
	case "hang":
		_ = os.WriteFile(name+".pid", fmt.Append(nil, os.Getpid()), 0o600)
		fmt.Fprintln(os.Stderr, "waiting for nothing")
		time.Sleep(time.Minute)
	case "killed":
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		time.Sleep(time.Minute)
	}
	for i := range 30 {
		fmt.Fprintf(os.Stderr, "line %d of the log\n", i)
	}
	fmt.Fprint(os.Stderr, behavior) // without a line end
	return 1
}

// fakeAssets is an assets directory of the test binary.
func fakeAssets(t *testing.T) Assets {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	assets := Assets{Dir: t.TempDir()}
	for _, name := range []string{Etcd, KubeAPIServer} {
		if err := LinkOrCopy(self, assets.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	return assets
}

// realAssets are built at their first use, which takes minutes; so progress is printed.
var realAssets = sync.OnceValues(func() (Assets, error) {
	o := DefaultOptions(os.Environ())
	o.Progress = func(message string) { fmt.Fprintln(os.Stderr, "controlplane:", message) }
	return Ensure(context.Background(), o)
})

// skipIfShort skips a test that starts a control plane in short mode.
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts a control plane")
	}
}

func startReal(t *testing.T, o StartOptions) *ControlPlane {
	t.Helper()
	skipIfShort(t)
	assets, err := realAssets()
	if err != nil {
		t.Fatal(err)
	}
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	cp, err := Start(t.Context(), assets, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cp
}

// holdControlPlane starts a control plane, prints the process ids of its servers, and waits.
func holdControlPlane(dir string) int {
	assets, err := realAssets()
	if fake := os.Getenv(holdAssetsVariable); fake != "" {
		assets, err = Assets{Dir: fake}, nil
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	cp, err := Start(context.Background(), assets, StartOptions{TempDir: dir, Environ: os.Environ()})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(cp.etcd.cmd.Process.Pid, cp.api.cmd.Process.Pid)
	time.Sleep(5 * time.Minute)
	return 0
}

// selfCommand runs the test binary as another program.
func selfCommand(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// isRunning reports whether a process runs; one that has ended and was not waited for does not.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, rest, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(rest, "Z")
	}
	return p.Signal(syscall.Signal(0)) == nil
}
