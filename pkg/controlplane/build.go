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
	"time"

	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
)

// A Command is a program with its arguments and environment.
type Command struct {
	// Dir is the working directory, Env the complete environment.
	Dir string
	Env []string
	// Name is a path, or searched in PATH.
	Name string
	Args []string
	// Stdin, Stdout and Stderr may be nil.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// buildPrefix is the prefix of the directories of running builds.
const buildPrefix = "build-"

// programName is the name of the program that is all parts in one, without .exe.
const programName = "controlplane"

// heartbeat is the time between two reports of a build.
const heartbeat = 10 * time.Second

// provide takes the programs from the archive of the release, or builds them from source. The caller holds the lock, so all existing build
// directories belong to interrupted builds.
func (o *EnsureOptions) provide(ctx context.Context, prog *program) (Assets, error) {
	if err := o.removeStale(); err != nil {
		return Assets{}, fmt.Errorf("removing an interrupted build: %w", err)
	}
	work, err := os.MkdirTemp(o.buildsDir(), buildPrefix)
	if err != nil {
		return Assets{}, fmt.Errorf("creating a build directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // the next build removes the rest

	bin := filepath.Join(work, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return Assets{}, fmt.Errorf("creating a build directory: %w", err)
	}
	binary := filepath.Join(bin, executable(programName))
	unpacked, err := o.unpackRelease(ctx, work, binary)
	if err != nil {
		return Assets{}, err
	}
	if !unpacked {
		o.reportf("building etcd and kube-apiserver %s from source, once; this takes 5 to 15 minutes on 2 cores", prog.version)
		if err := o.compile(ctx, prog, hostPlatform(), filepath.Join(work, "src"), binary); err != nil {
			return Assets{}, err
		}
	}
	if err := linkParts(bin); err != nil {
		return Assets{}, fmt.Errorf("storing the control plane: %w", err)
	}

	target := filepath.Join(o.buildsDir(), prog.key(hostPlatform()))
	// An existing directory is incomplete.
	if err := os.RemoveAll(target); err != nil {
		return Assets{}, fmt.Errorf("storing the control plane: %w", err)
	}
	if err := os.Rename(bin, target); err != nil {
		return Assets{}, fmt.Errorf("storing the control plane: %w", err)
	}
	if missing := missingParts(target, o.parts()); len(missing) > 0 {
		return Assets{}, fmt.Errorf("the control plane built for %s has no %s", runtime.GOOS, strings.Join(missing, ", "))
	}
	return Assets{Dir: target, Source: fromBuild, Version: strings.TrimPrefix(prog.version, "v")}, nil
}

// removeStale removes the directories of interrupted builds.
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

// compile writes the source to the directory src, runs go list to download what it requires and to count the packages, then go build.
func (o *EnsureOptions) compile(ctx context.Context, prog *program, p versions.Platform, src, out string) error {
	if err := writeProgram(src, prog); err != nil {
		return fmt.Errorf("writing the control plane's program: %w", err)
	}
	env := buildEnviron(o.Environ, p)
	progress := &buildProgress{stage: "downloading the sources"}
	defer o.reportRegularly(ctx, progress.state)()

	goRun := func(stdout io.Writer, args ...string) error {
		stderr := &tail{skip: progress.countPackage}
		err := o.run(ctx, Command{Dir: src, Env: env, Name: "go", Args: args, Stdout: stdout, Stderr: stderr})
		return explainGo(ctx, err, stderr.lines())
	}
	var packages lineCounter
	err := goRun(&packages, "list", "-mod=readonly", "-deps", ".")
	if err == nil {
		progress.start("compiling", packages.lines)
		err = goRun(nil, prog.buildArgs(out)...)
	}
	if err != nil {
		return fmt.Errorf("building the control plane %s: %w", prog.version, err)
	}
	return nil
}

func (o *EnsureOptions) run(ctx context.Context, command Command) error {
	if o.Run != nil {
		return o.Run(ctx, command)
	}
	return RunTied(ctx, command)
}

// buildEnviron returns environ with fixed values of all variables that affect the build.
func buildEnviron(environ []string, p versions.Platform) []string {
	flags := "-mod=readonly"
	for _, entry := range environ {
		// With this flag, which users set to delete the module cache, it is writable.
		if value, ok := strings.CutPrefix(entry, "GOFLAGS="); ok && strings.Contains(value, "-modcacherw") {
			flags += " -modcacherw"
		}
	}
	// The last entry of a name is effective.
	return append(append([]string{}, environ...),
		"GOFLAGS="+flags, "GOWORK=off", "GO111MODULE=on", "CGO_ENABLED=0",
		"GOOS="+p.OS, "GOARCH="+p.Arch)
}

// explainGo adds the likely cause and the remedy to an error of go.
func explainGo(ctx context.Context, err error, lines []string) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("go not found in PATH: install Go, or set KUBEBUILDER_ASSETS to a directory with etcd and kube-apiserver: %w", err)
	}
	f := &Failure{Program: "go", Err: err, Lines: lines}
	f.Cause = likelyCause(err, lines)
	text := strings.Join(lines, "\n")
	for _, sign := range []string{"dial tcp", "no such host", "proxyconnect", "connection refused", "TLS handshake timeout", "module lookup disabled by GOPROXY=off"} {
		if f.Cause == "" && strings.Contains(text, sign) {
			f.Cause = "cannot reach the Go module proxy; connect to a network or set GOPROXY, then try again"
		}
	}
	return f
}

// linkParts links the binary in dir to the names of its parts. Symbolic links would be lost in copies of the directory, and copies
// take 140 MB each.
func linkParts(dir string) error {
	binary := filepath.Join(dir, executable(programName))
	if err := flush(binary); err != nil {
		return err
	}
	for _, part := range partsOf(hostPlatform()) {
		if err := LinkOrCopy(binary, filepath.Join(dir, executable(part))); err != nil {
			return err
		}
	}
	return os.Remove(binary)
}

// flush writes a file to the disk, so that a power failure does not leave an empty one under its final name.
func flush(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// LinkOrCopy creates a hard link to a program or, on file systems without them, a copy.
func LinkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
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
	if err = errors.Join(err, out.Close()); err != nil {
		_ = os.Remove(to)
	}
	return err
}
