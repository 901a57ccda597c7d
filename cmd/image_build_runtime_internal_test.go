package cmd

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/operatorimage"
)

// TestInstallRuntime checks that operon-runtime is built from its module for another platform, without changes of the user's GOPATH.
func TestInstallRuntime(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it compiles a program")
	}
	proxy, gopath, temp := t.TempDir(), t.TempDir(), t.TempDir()
	const module, version = "github.com/operon-sdk/operon", "v1.9.9"
	const gomod = "module " + module + "\n\ngo 1.26\n"
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for name, text := range map[string]string{"go.mod": gomod, "cmd/operon-runtime/main.go": "package main\n\nfunc main() {}\n"} {
		w, err := archive.Create(module + "@" + version + "/" + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": gomod, version + ".zip": packed.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var output bytes.Buffer
	// GOFLAGS lets the test remove the module cache. GOBIN is the user's.
	environ := append(os.Environ(), "GOPROXY=file://"+filepath.ToSlash(proxy), "GONOSUMDB=*", "GONOSUMCHECK=1", "GOSUMDB=off", "GOPATH="+gopath, "GOBIN="+gopath, "GOFLAGS=-modcacherw")
	a := newApp(&Env{Environ: environ, Run: env.Run, Err: &output}, "operon")
	b := a.imageBuilder("")
	for _, platform := range []string{"linux/arm64", "linux/amd64"} {
		program, err := b.InstallRuntime(t.Context(), version, platform, filepath.Join(temp, strings.ReplaceAll(platform, "/", "-")))
		if err != nil {
			t.Fatalf("%v\n%s", err, &output)
		}
		if problem, err := operatorimage.RuntimeProblem(program, platform); err != nil || problem != "" {
			t.Errorf("%s: %s, %v", platform, problem, err)
		}
	}
	if _, err := os.Stat(filepath.Join(gopath, "bin")); !os.IsNotExist(err) {
		t.Errorf("the user's GOPATH has a program: %v", err)
	}
	_, err := b.InstallRuntime(t.Context(), "v1.9.8", "linux/arm64", filepath.Join(temp, "missing"))
	if err == nil || !strings.Contains(err.Error(), "operon-runtime@v1.9.8") {
		t.Errorf("a version that does not exist: %v", err)
	}
	a.Environ = []string{"PATH=" + t.TempDir(), "GOPATH=" + gopath}
	if _, err := b.InstallRuntime(t.Context(), version, "linux/arm64", filepath.Join(temp, "none")); !errors.Is(err, codegen.ErrGoMissing) {
		t.Errorf("without go: %v", err)
	}
}
