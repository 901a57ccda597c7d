package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

const (
	program        = "operon"
	runtimeProgram = "operon-runtime"
	homepage       = "https://github.com/operon-sdk/operon"
	summary        = "Create, test and publish Kubernetes operators"
	// checksums is the name of the file with the checksums of all others.
	checksums = "SHA256SUMS"
)

// packages are the Go packages of the programs.
var packages = map[string]string{program: ".", runtimeProgram: "./cmd/operon-runtime"}

// A release is what the program writes.
type release struct {
	// version begins with v, such as v1.2.3. Date is the time of all files.
	version   string
	date      time.Time
	platforms []platform
	// baseURL is the URL of the directory that the files will be downloaded from.
	baseURL string
	// key is the file with the minisign key, or "". Password is its password, or "".
	key, password string
	// source is the directory with Operon's source. Out is the directory to write, which is replaced when all files are complete.
	source, out string
	// images are the names of base images, whose OCI layouts are in the directory bin of the source.
	images []string
	// environ is the environment of the build of control planes.
	environ []string
	// compile builds the program of a Go package for a platform, with additional linker flags.
	compile func(ctx context.Context, p platform, ldflags, pkg, output string) error
	// pack writes the archive with a control plane.
	pack func(ctx context.Context, o controlplane.PackOptions, w io.Writer) error
	log  io.Writer

	// stage is a temporary directory next to out; its subdirectory files becomes out.
	stage string
	// archives are those written so far.
	archives []archived
	// linked are the linker flags that tell the program of a platform where its control plane is.
	linked map[platform]string
	// done and total count steps.
	done, total int
}

// An archived platform has an archive with a name and a SHA-256 checksum.
type archived struct {
	platform
	name, sum string
}

// write writes all files, or none.
func (r *release) write(ctx context.Context) (err error) {
	start := time.Now()
	for _, name := range []*string{&r.source, &r.out, &r.key} {
		if *name == "" {
			continue
		}
		if *name, err = filepath.Abs(*name); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(r.out), 0o755); err != nil {
		return err
	}
	if r.stage, err = os.MkdirTemp(filepath.Dir(r.out), "release-*.tmp"); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(r.stage)) }()
	if err := os.Mkdir(r.file(), 0o755); err != nil {
		return err
	}
	steps := r.steps()
	r.done, r.total, r.linked = 0, len(steps), map[platform]string{}
	for _, s := range steps {
		r.done++
		fmt.Fprintf(r.log, "==> %d/%d %s\n", r.done, r.total, s.what)
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.Rename(r.file(), r.out); err != nil {
		return err
	}
	return r.report(time.Since(start))
}

// A step is one of the counted steps; what begins with a present participle.
type step struct {
	what string
	run  func(ctx context.Context) error
}

// steps returns the steps in their order.
func (r *release) steps() []step {
	var steps []step
	if len(r.tools()) > 0 {
		steps = append(steps, step{"building " + strings.Join(r.tools(), " and "), r.installTools})
	}
	for _, p := range r.platforms {
		if p.hasControlPlane() {
			steps = append(steps, step{fmt.Sprintf("building the control plane for %s", p), func(ctx context.Context) error { return r.packControlPlane(ctx, p) }})
		}
	}
	build := func(p platform, programs ...string) {
		steps = append(steps, step{fmt.Sprintf("building %s for %s", strings.Join(programs, " and "), p), func(ctx context.Context) error {
			return r.build(ctx, p, programs)
		}})
	}
	if !slices.Contains(r.platforms, host()) {
		build(host(), program) // it writes the manual pages
	}
	for _, p := range r.platforms {
		build(p, program, runtimeProgram)
	}
	steps = append(steps, step{"writing manual pages and completions", r.document})
	for _, p := range r.platforms {
		steps = append(steps,
			step{fmt.Sprintf("archiving %s", p), func(context.Context) error { return r.archive(p) }},
			step{fmt.Sprintf("listing the modules in %s", p), func(context.Context) error { return r.list(p) }})
		if p.hasPackages() {
			steps = append(steps, step{fmt.Sprintf("packaging %s as deb and rpm", p), func(ctx context.Context) error { return r.makePackages(ctx, p) }})
		}
	}
	for _, name := range r.images {
		steps = append(steps, step{"archiving the image " + name, func(context.Context) error { return r.archiveImage(name) }})
	}
	return append(steps,
		step{"writing the Homebrew formula and the Krew manifest", func(context.Context) error { return r.describe() }},
		step{"writing checksums", r.sum})
}

// file returns the path of a file of the release while it is being written, or their directory.
func (r *release) file(name ...string) string {
	return filepath.Join(r.stage, "files", filepath.Join(name...))
}

// built returns the path of the directory with the programs for a platform.
func (r *release) built(p platform) string { return filepath.Join(r.stage, "built", p.os+"_"+p.arch) }

// number is the version without its v.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// base is the name of a platform's files without their extension.
func (r *release) base(p platform) string {
	return strings.Join([]string{program, r.number(), p.os, p.arch}, "_")
}

// report lists the files with their sizes.
func (r *release) report(took time.Duration) error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(r.log, "%8.1f MB  %s\n", float64(info.Size())/1e6, e.Name())
	}
	fmt.Fprintf(r.log, "==> %d files of %s in %s after %s\n", len(entries), r.version, r.out, took.Round(time.Second))
	return nil
}
