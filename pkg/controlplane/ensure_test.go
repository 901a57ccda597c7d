package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeGo builds quickly: it writes a file where go would put the program.
type fakeGo struct {
	mu     sync.Mutex
	builds []Command
	// during runs while a build is under way; it may fail the build.
	during func(ctx context.Context, dir string) error
}

func (g *fakeGo) run(ctx context.Context, c Command) error {
	if c.Name != "go" {
		return fmt.Errorf("unexpected program %s", c.Name)
	}
	if c.Args[0] == "list" {
		_, err := io.WriteString(c.Stdout, "a\nb\nc\n")
		return err
	}
	g.mu.Lock()
	g.builds = append(g.builds, c)
	g.mu.Unlock()
	if _, err := io.WriteString(c.Stderr, "a\nb\n"); err != nil {
		return err
	}
	out := c.Args[slices.Index(c.Args, "-o")+1]
	if err := os.WriteFile(out, []byte("half"), 0o755); err != nil {
		return err
	}
	if g.during != nil {
		if err := g.during(ctx, c.Dir); err != nil {
			return err
		}
	}
	return os.WriteFile(out, []byte("program"), 0o755)
}

func (g *fakeGo) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.builds)
}

// messages collects the progress that a caller receives.
type messages struct {
	mu    sync.Mutex
	lines []string
}

func (m *messages) add(message string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, message)
}

func (m *messages) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.lines, "\n")
}

// offline are options with a cache of their own, a fast build and no network.
func offline(t *testing.T, g *fakeGo) EnsureOptions {
	t.Helper()
	return EnsureOptions{CacheDir: t.TempDir(), StoreDirs: []string{t.TempDir()}, NoDownload: true, Run: g.run}
}

// putPrograms creates a directory of programs.
func putPrograms(t *testing.T, dir string, names ...string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, executable(name)), []byte("program"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func storeFolder(dir, version string) string {
	return filepath.Join(dir, "k8s", version+"-"+hostPlatform().OS+"-"+hostPlatform().Arch)
}

func ensure(t *testing.T, o EnsureOptions) Assets {
	t.Helper()
	assets, err := Ensure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if missing := missingParts(assets.Dir, o.parts()); len(missing) > 0 {
		t.Errorf("no %v in the assets", missing)
	}
	return assets
}

// noBuildDirectories checks that no build left its directory.
func noBuildDirectories(t *testing.T, o EnsureOptions) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(o.buildsDir(), buildPrefix+"*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	g := &fakeGo{}
	o := offline(t, g)

	built := ensure(t, o)
	if built.Source != fromBuild || built.Version != Version || g.count() != 1 {
		t.Errorf("with nothing there: %+v after %d builds", built, g.count())
	}
	for _, part := range []string{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kubectl} {
		if len(missingParts(built.Dir, []string{part})) > 0 {
			t.Errorf("the build has no %s", part)
		}
	}
	if again := ensure(t, o); again != built || g.count() != 1 {
		t.Errorf("the second time: %+v after %d builds", again, g.count())
	}
	if entries, _ := os.ReadDir(built.Dir); slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.Type().IsRegular() }) {
		t.Errorf("not only plain files: %v", entries)
	}
	noBuildDirectories(t, o)

	stored := putPrograms(t, storeFolder(o.StoreDirs[0], "1.36.1"), Etcd, KubeAPIServer, Kubectl)
	putPrograms(t, storeFolder(o.StoreDirs[0], "1.36.2"), Etcd) // was interrupted
	putPrograms(t, storeFolder(o.StoreDirs[0], "1.37.0"), Etcd, KubeAPIServer, Kubectl)
	if got := ensure(t, o); got.Dir != stored || got.Source != fromStore || got.Version != "1.36.1" {
		t.Errorf("with a store: %+v", got)
	}
	needs := o
	needs.Parts = []string{KubeScheduler}
	if got := ensure(t, needs); got != built {
		t.Errorf("a part that only the build has: %+v", got)
	}

	o.KubebuilderAssets = putPrograms(t, t.TempDir(), Etcd, KubeAPIServer)
	if got := ensure(t, o); got.Dir != o.KubebuilderAssets || got.Source != fromEnvironment {
		t.Errorf("with KUBEBUILDER_ASSETS: %+v", got)
	}
	o.KubebuilderAssets = putPrograms(t, t.TempDir(), Etcd)
	if got, err := Ensure(t.Context(), o); err == nil || !strings.Contains(err.Error(), "kube-apiserver not found") {
		t.Errorf("with incomplete KUBEBUILDER_ASSETS: %+v, %v", got, err)
	}
}

func TestOtherVersions(t *testing.T) {
	t.Parallel()
	o := offline(t, &fakeGo{})
	o.Version = "1.35"
	if got := ensure(t, o); got.Source != fromBuild || got.Version != Version {
		t.Errorf("a version that is nowhere: %+v", got)
	}
	stored := putPrograms(t, storeFolder(o.StoreDirs[0], "1.35.4"), Etcd, KubeAPIServer)
	if got := ensure(t, o); got.Dir != stored || got.Version != "1.35.4" {
		t.Errorf("a version in the store: %+v", got)
	}
	for _, version := range []string{"", "1.36", "v1.36.3", "1.36.x", "~1.36.0"} {
		o.Version = version
		if got := ensure(t, o); got.Version != Version {
			t.Errorf("%q gives %+v", version, got)
		}
	}
	for _, version := range []string{"one", "1", "1.36.3.4", "99999999999999999999.1", "1.36.99999999999999999999"} {
		o.Version = version
		if got, err := Ensure(t.Context(), o); err == nil || !strings.Contains(err.Error(), version) {
			t.Errorf("%q gives %+v, %v", version, got, err)
		}
	}
}

func TestBuildCommand(t *testing.T) {
	t.Parallel()
	g := &fakeGo{}
	var progress messages
	g.during = func(_ context.Context, dir string) error {
		for _, name := range []string{"go.mod", "go.sum", "main.go", "parent_unix.go"} {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(data) == 0 {
				t.Errorf("the program has no %s: %v", name, err)
			}
		}
		return nil
	}
	o := offline(t, g)
	o.Progress = progress.add
	o.Environ = []string{"HOME=/h", "GOFLAGS=-mod=vendor -modcacherw", "GOOS=plan9", "GOWORK=/w"}
	ensure(t, o)
	c := g.builds[0]
	last := map[string]string{}
	for _, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		last[name] = value
	}
	if last["GOFLAGS"] != "-mod=readonly -modcacherw" || last["GOWORK"] != "off" || last["GOOS"] != hostPlatform().OS || last["HOME"] != "/h" {
		t.Errorf("the build's environment: %v", c.Env)
	}
	if all := strings.Join(c.Args, " "); !strings.Contains(all, "component-base/version.gitVersion=v"+Version) || !strings.Contains(all, "-trimpath") {
		t.Errorf("go %s", all)
	}
	if !strings.Contains(progress.String(), "building etcd and kube-apiserver v"+Version) {
		t.Errorf("progress: %s", &progress)
	}
	if strings.Contains(progress.String(), o.CacheDir) {
		t.Errorf("a path in: %s", &progress)
	}
}

func TestInterruptedBuild(t *testing.T) {
	t.Parallel()
	g := &fakeGo{}
	o := offline(t, g)

	g.during = func(context.Context, string) error { return errors.New("exit status 1") }
	if _, err := Ensure(t.Context(), o); err == nil || !strings.Contains(err.Error(), "building the control plane v"+Version+": go failed: exit status 1") {
		t.Errorf("a build that fails: %v", err)
	}
	noBuildDirectories(t, o)

	ctx, cancel := context.WithCancel(t.Context())
	g.during = func(ctx context.Context, _ string) error {
		cancel()
		return ctx.Err()
	}
	if _, err := Ensure(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("a build that is canceled: %v", err)
	}
	noBuildDirectories(t, o)

	putPrograms(t, filepath.Join(o.buildsDir(), buildPrefix+"123", "bin"), Etcd)
	g.during = nil
	built := ensure(t, o)
	noBuildDirectories(t, o)

	// What is damaged is built again.
	if err := os.Truncate(built.Path(Etcd), 0); err != nil {
		t.Fatal(err)
	}
	before := g.count()
	if again := ensure(t, o); again != built || g.count() != before+1 {
		t.Errorf("a damaged build: %+v after %d builds", again, g.count()-before)
	}
}

// buildVariable makes the test binary a process that never ends its build in that cache.
const buildVariable = "OPERON_TEST_BUILD"

func buildForever(cache string) int {
	g := &fakeGo{during: func(context.Context, string) error {
		fmt.Println("building")
		time.Sleep(time.Minute)
		return nil
	}}
	_, _ = Ensure(context.Background(), EnsureOptions{CacheDir: cache, NoDownload: true, Run: g.run})
	return 0
}

func TestKilledBuild(t *testing.T) {
	t.Parallel()
	g := &fakeGo{}
	o := offline(t, g)
	other := selfCommand(t, buildVariable+"="+o.CacheDir)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("building"))); err != nil {
		t.Fatal(err)
	}

	// While it lives, others wait for it, and can stop waiting.
	var progress messages
	o.Progress = progress.add
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Ensure(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another builds: %v", err)
	}
	if want := fmt.Sprintf("waiting for process %d", other.Process.Pid); !strings.Contains(progress.String(), want) {
		t.Errorf("progress %q, want %q", &progress, want)
	}

	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if left, _ := filepath.Glob(filepath.Join(o.buildsDir(), buildPrefix+"*")); len(left) != 1 {
		t.Errorf("expected the directory of the killed build: %v", left)
	}
	ensure(t, o)
	noBuildDirectories(t, o)
}

func TestTwoBuilders(t *testing.T) {
	t.Parallel()
	started, goOn := make(chan struct{}), make(chan struct{})
	g := &fakeGo{during: func(context.Context, string) error {
		close(started) // a second build would panic here
		<-goOn
		return nil
	}}
	o := offline(t, g)
	results := make(chan Assets, 2)
	go func() { results <- ensure(t, o) }()
	<-started
	second := o
	second.Progress = func(message string) {
		if strings.Contains(message, "waiting for process") {
			close(goOn)
		}
	}
	go func() { results <- ensure(t, second) }()
	one, two := <-results, <-results
	if one != two || g.count() != 1 {
		t.Errorf("%+v and %+v after %d builds", one, two, g.count())
	}
}

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	o := offline(t, &fakeGo{})
	o.NoBuild = true
	if _, err := Ensure(t.Context(), o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a build: %v", err)
	}
	o.NoBuild, o.CacheDir = false, ""
	if _, err := Ensure(t.Context(), o); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("without a cache: %v", err)
	}
	for _, c := range []struct {
		stderr, want string
		err          error
	}{
		{"", "go not found in PATH", &exec.Error{Name: "go", Err: exec.ErrNotFound}},
		{"go: k8s.io/api@v0.36.3: Get \"https://proxy/x\": dial tcp: lookup proxy: no such host\n", "cannot reach the Go module proxy", errors.New("exit status 1")},
		{"link: write out: no space left on device\n", causeDisk, errors.New("exit status 1")},
		{"compile: signal: killed\n", causeMemory, errors.New("exit status 1")},
		{"go: go.mod requires go >= 1.26.0 (running go 1.20; GOTOOLCHAIN=local)\n", "requires go >= 1.26.0", errors.New("exit status 1")},
	} {
		o := offline(t, nil)
		o.Run = func(_ context.Context, command Command) error {
			if _, err := io.WriteString(command.Stderr, "k8s.io/api\n"+c.stderr); err != nil {
				return err
			}
			return c.err
		}
		_, err := Ensure(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n  k8s.io/api\n") {
			t.Errorf("%q gives %v", c.stderr, err)
		}
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	p, err := loadProgram()
	if err != nil {
		t.Fatal(err)
	}
	if p.version != "v"+Version {
		t.Errorf("templates/controlplane/go.mod.tmpl requires Kubernetes %s, the package has %s", p.version, Version)
	}
	if ownVersion().String() != Version {
		t.Errorf("%q is not a valid version", Version)
	}
	key := p.key(hostPlatform())
	if !strings.HasPrefix(key, Version+"-") || key != p.key(hostPlatform()) {
		t.Errorf("key %s", key)
	}
	p.files["main.go"] = append(p.files["main.go"], '\n')
	if p.key(hostPlatform()) == key {
		t.Error("another program has the same key")
	}
}

func TestBuildWatch(t *testing.T) {
	t.Parallel()
	w := &buildProgress{stage: "downloading the sources"}
	if got := w.state(30 * time.Second); got != "downloading the sources" {
		t.Error(got)
	}
	w.start("compiling", 3)
	stderr := &tail{skip: w.countPackage}
	for _, chunk := range []string{"k8s.io/a", "pi\nk8s.io/b\n# k8s.io/c\n", "c.go:1:2: wrong type\n"} {
		if _, err := stderr.Write([]byte(chunk)); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.state(40 * time.Second); got != "compiling: 2 of 3 packages" {
		t.Error(got)
	}
	w.total, w.packages = 1000, 250 // in one minute
	if got := w.state(90 * time.Second); got != "compiling: 250 of 1000 packages, about 4 min left" {
		t.Error(got)
	}
	if got := strings.Join(stderr.lines(), "|"); got != "# k8s.io/c|c.go:1:2: wrong type" {
		t.Error(got)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	w := &tail{log: &log}
	text := strings.Repeat("x", 500) + "\n\npanic: no space\n\ngoroutine 1 [running]:\nmain.main()\n\tmain.go:3\n" +
		"E0102 15:04:05.0 1 a.go:1] after\r\nunfinished"
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	want := []string{strings.Repeat("x", tailWidth) + "…", "panic: no space", "E0102 15:04:05.0 1 a.go:1] after", "unfinished"}
	if got := w.lines(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if log.String() != text {
		t.Error("the log differs")
	}
}
