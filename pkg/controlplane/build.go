package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Command is a program to run to its end.
type Command struct {
	// Dir is the working directory, Env the whole environment.
	Dir string
	Env []string
	// Name is looked up in PATH.
	Name string
	Args []string
	// Stdout and Stderr may be nil.
	Stdout, Stderr io.Writer
}

// buildPrefix starts the names of folders in which a build is under way.
const buildPrefix = "build-"

// heartbeat is how often a build tells how far it is.
const heartbeat = 10 * time.Second

// build makes the programs from source. The caller holds the lock, so every build folder that is
// there already belongs to a build that was interrupted.
func (o *EnsureOptions) build(ctx context.Context, prog *program) (Assets, error) {
	if err := o.removeStale(); err != nil {
		return Assets{}, fmt.Errorf("removing an interrupted build: %w", err)
	}
	o.say("building etcd and kube-apiserver %s from source, once; this takes 5 to 15 minutes on 2 cores", prog.version)
	work, err := os.MkdirTemp(o.buildsDir(), buildPrefix)
	if err != nil {
		return Assets{}, fmt.Errorf("making a folder to build in: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // what stays, the next build removes

	src, bin := filepath.Join(work, "src"), filepath.Join(work, "bin")
	if err := writeProgram(src, prog); err != nil {
		return Assets{}, fmt.Errorf("writing the control plane's program: %w", err)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		return Assets{}, fmt.Errorf("making a folder to build in: %w", err)
	}
	if err := o.compile(ctx, prog, src, filepath.Join(bin, executable("controlplane"))); err != nil {
		return Assets{}, fmt.Errorf("building the control plane %s: %w", prog.version, err)
	}
	if err := spread(bin); err != nil {
		return Assets{}, fmt.Errorf("storing the control plane: %w", err)
	}

	target := filepath.Join(o.buildsDir(), prog.key())
	// A folder of that name is one that lost some of its files.
	if err := os.RemoveAll(target); err != nil {
		return Assets{}, fmt.Errorf("storing the control plane: %w", err)
	}
	if err := os.Rename(bin, target); err != nil {
		return Assets{}, fmt.Errorf("storing the control plane: %w", err)
	}
	if missing := missingParts(target, o.parts()); len(missing) > 0 {
		return Assets{}, fmt.Errorf("the control plane built for %s has no %s", runtime.GOOS, strings.Join(missing, ", "))
	}
	return Assets{Dir: target, Source: FromBuild, Version: strings.TrimPrefix(prog.version, "v")}, nil
}

// removeStale removes the folders of builds that were interrupted.
func (o *EnsureOptions) removeStale() error {
	stale, err := filepath.Glob(filepath.Join(o.buildsDir(), buildPrefix+"*"))
	for _, dir := range stale {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

func writeProgram(dir string, prog *program) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(prog.files)) {
		if err := os.WriteFile(filepath.Join(dir, name), prog.files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compile runs go: once to fetch the sources and count the packages, once to build them.
func (o *EnsureOptions) compile(ctx context.Context, prog *program, src, out string) error {
	env := buildEnviron(o.Environ)
	watch := &buildWatch{emit: o.emit, stage: "fetching the sources"}
	beat, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { watch.report(beat) })
	defer func() {
		stop()
		wg.Wait()
	}()

	goRun := func(stdout io.Writer, args ...string) error {
		stderr := &tail{skip: watch.countPackage}
		err := o.run(ctx, Command{Dir: src, Env: env, Name: "go", Args: args, Stdout: stdout, Stderr: stderr})
		return explainGo(ctx, err, stderr.lines())
	}
	var packages lineCounter
	if err := goRun(&packages, "list", "-mod=readonly", "-deps", "."); err != nil {
		return err
	}
	watch.start("compiling", packages.lines)
	return goRun(nil, prog.buildArgs(out)...)
}

func (o *EnsureOptions) run(ctx context.Context, command Command) error {
	if o.Run != nil {
		return o.Run(ctx, command)
	}
	return runTied(ctx, command)
}

// buildEnviron is environ with everything fixed that would change what is built.
func buildEnviron(environ []string) []string {
	flags := "-mod=readonly"
	for _, entry := range environ {
		// Without this flag Go writes a module cache that only `go clean` can remove; who set it counts on it.
		if value, ok := strings.CutPrefix(entry, "GOFLAGS="); ok && strings.Contains(value, "-modcacherw") {
			flags += " -modcacherw"
		}
	}
	// The last entry of a name counts.
	return append(append([]string{}, environ...),
		"GOFLAGS="+flags, "GOWORK=off", "GO111MODULE=on", "CGO_ENABLED=0",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
}

// explainGo makes an error of a failed run of go that says what to do.
func explainGo(ctx context.Context, err error, lines []string) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("go is not in PATH: install Go, or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver: %w", err)
	}
	f := &Failure{Program: "go", Err: err, Lines: lines}
	f.Cause = likelyCause(err, lines)
	text := strings.Join(lines, "\n")
	for _, sign := range []string{"dial tcp", "no such host", "proxyconnect", "connection refused", "TLS handshake timeout", "module lookup disabled by GOPROXY=off"} {
		if f.Cause == "" && strings.Contains(text, sign) {
			f.Cause = "the Go module proxy cannot be reached; connect to a network or set GOPROXY, then try again"
		}
	}
	return f
}

// spread gives the one binary in dir the names of all its parts. They are hard links: symbolic ones
// get lost when people copy the folder, and copies take 140 MB each.
func spread(dir string) error {
	binary := filepath.Join(dir, executable("controlplane"))
	if err := flush(binary); err != nil {
		return err
	}
	parts := []string{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kubectl}
	if runtime.GOOS == "linux" {
		parts = append(parts, Kubelet, KubeProxy)
	}
	for _, part := range parts {
		if err := linkOrCopy(binary, filepath.Join(dir, executable(part))); err != nil {
			return err
		}
	}
	return os.Remove(binary)
}

// flush brings a file to the disk, so that no power cut leaves an empty one under its final name.
func flush(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// linkOrCopy makes to the same file as from, or a copy on file systems without hard links.
func linkOrCopy(from, to string) error {
	if err := os.Link(from, to); err == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
