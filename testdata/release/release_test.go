package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

// TestRelease writes a release with small programs twice, in different directories and from files with different times, and compares
// the bytes. Then it reads each file.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	t.Parallel()
	standin := buildStandin(t)
	key := makeKey(t)
	first, output := writeRelease(t, standin, key, time.Unix(1e9, 0))
	second, _ := writeRelease(t, standin, key, time.Unix(1.1e9, 0))

	want := []string{"SHA256SUMS", "SHA256SUMS.minisig", "helm-operator-image_1.2.3-rc.1.tar"}
	for _, platform := range []string{"darwin/arm64", "linux/amd64", "windows/amd64"} {
		system, arch, _ := strings.Cut(platform, "/")
		name, err := controlplane.ArchiveName(system, arch)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	want = append(want,
		"operon.rb", "operon.yaml",
		"operon_1.2.3-rc.1_darwin_arm64.spdx.json", "operon_1.2.3-rc.1_darwin_arm64.tar.gz",
		"operon_1.2.3-rc.1_linux_amd64.deb", "operon_1.2.3-rc.1_linux_amd64.rpm",
		"operon_1.2.3-rc.1_linux_amd64.spdx.json", "operon_1.2.3-rc.1_linux_amd64.tar.gz",
		"operon_1.2.3-rc.1_windows_amd64.spdx.json", "operon_1.2.3-rc.1_windows_amd64.zip",
	)
	if got := names(t, first); !slices.Equal(got, want) {
		t.Errorf("got the files\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, name := range want {
		if !bytes.Equal(read(t, first, name), read(t, second, name)) {
			t.Errorf("%s differs in a second run", name)
		}
	}
	steps := strings.Count(output, "==> ") - 1
	if !strings.Contains(output, fmt.Sprintf("==> %[1]d/%[1]d writing checksums\n", steps)) || !strings.Contains(output, "==> 16 files of v1.2.3-rc.1 in ") {
		t.Errorf("progress without counts:\n%s", output)
	}

	t.Run("archives", func(t *testing.T) { checkArchives(t, first) })
	t.Run("image", func(t *testing.T) { checkImage(t, first) })
	t.Run("packages", func(t *testing.T) { checkPackages(t, first) })
	t.Run("checksums", func(t *testing.T) { checkSums(t, first) })
	t.Run("SBOM", func(t *testing.T) { checkSBOM(t, first) })
	t.Run("formula and manifest", func(t *testing.T) { checkManifests(t, first) })
	t.Run("signature", func(t *testing.T) { checkSignature(t, first, key) })
}

// TestFailedRelease checks that a failure, here of a program with another version, leaves what was there.
func TestFailedRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	t.Parallel()
	r := newRelease(t, buildStandin(t), date, "-version", "v1.2.4", "-platforms", "windows/amd64")
	if err := os.MkdirAll(filepath.Join(r.out, "before"), 0o755); err != nil {
		t.Fatal(err)
	}
	const want = `operon version prints "v1.2.3-rc.1", want "v1.2.4"`
	if err := r.write(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got the error %v, want %s", err, want)
	}
	if got := names(t, r.out); !slices.Equal(got, []string{"before"}) {
		t.Errorf("got the files %q", got)
	}
	if got := names(t, filepath.Dir(r.out)); !slices.Equal(got, []string{"out", "source"}) {
		t.Errorf("temporary files are left: %q", got)
	}
}

// buildStandin builds the program that stands in for both programs on all platforms.
func buildStandin(t *testing.T) []byte {
	t.Helper()
	program := filepath.Join(t.TempDir(), "standin.exe")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, "./standin").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return read(t, filepath.Dir(program), "standin.exe")
}

// newRelease returns a release whose source files have a time of change and whose programs are the stand-in.
func newRelease(t *testing.T, standin []byte, changed time.Time, args ...string) *release {
	t.Helper()
	parent := t.TempDir()
	source := filepath.Join(parent, "source")
	if err := os.Mkdir(source, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range sourceFiles {
		if err := os.WriteFile(filepath.Join(source, name), []byte("content of "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(source, name), changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(source, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ci.md", "embed.go"} {
		if err := os.WriteFile(filepath.Join(source, "docs", name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	layout := filepath.Join(source, "bin", "helm-operator-image")
	if err := os.MkdirAll(filepath.Join(layout, "blobs", "sha256"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"blobs/sha256/1", "index.json", "oci-layout"} {
		if err := os.WriteFile(filepath.Join(layout, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args = append([]string{"-date", "2026-01-02T04:04:05+01:00", "-out", filepath.Join(parent, "out")}, args...)
	r, err := parse(args, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	r.source, r.log = source, io.Discard
	r.compile = func(ctx context.Context, p platform, ldflags, pkg, output string) error {
		if want := "pkg/buildinfo.controlPlaneURL=" + r.baseURL + "/operon-control-plane_"; slices.Contains(r.platforms, p) && !strings.Contains(ldflags, want) {
			t.Errorf("%s for %s is linked with %q, without %s", pkg, p, ldflags, want)
		}
		if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
			return err
		}
		return os.WriteFile(output, standin, 0o700)
	}
	r.pack = func(_ context.Context, o controlplane.PackOptions, w io.Writer) error {
		_, err := fmt.Fprintf(w, "control plane for %s/%s of %s\n", o.OS, o.Arch, o.Modified)
		return err
	}
	return r
}

// writeRelease writes a release for three platforms. It returns the directory and what was printed.
func writeRelease(t *testing.T, standin []byte, key string, changed time.Time) (dir, output string) {
	t.Helper()
	r := newRelease(t, standin, changed, "-version", "v1.2.3-rc.1", "-platforms", "linux/amd64 windows/amd64 darwin/arm64",
		"-base-url", "https://example.com/v1.2.3-rc.1", "-key", key, "-images", "helm-operator")
	var log bytes.Buffer
	r.log = &log
	if err := r.write(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	return r.out, log.String()
}

// makeKey makes a key without a password, and its public key in a file with the extension pub.
func makeKey(t *testing.T) string {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("go", "run", minisign, "-G", "-W", "-s", key, "-p", key+".pub").CombinedOutput(); err != nil {
		t.Fatalf("minisign: %v\n%s", err, out)
	}
	return key
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
