package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestModernize puts code for older libraries into projects, with the go.mod of then, and upgrades them: they compile,
// are vetted and tidy, all without a network, their tests pass on a real API server, and another upgrade finds nothing to
// do.
func TestModernize(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob(filepath.Join(goldenDir, "modernize", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	assets, err := controlPlaneAssets()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, command := range []string{
				"init --domain example.com --repo example.com/mine --project-name mine",
				"create api --group cache --version v1 --kind Memcached --resource --controller",
			} {
				if code, _, said := runOperon(t, dir, "", strings.Fields(command)...); code != 0 {
					t.Fatalf("%s: exit code %d\n%s", command, code, said)
				}
			}
			goRun(t, dir, nil, "mod", "tidy") // for the module cache to hold what the scaffold needs
			for _, f := range archive.Files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f.Name)), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, f.Name), string(f.Data))
			}
			write(t, filepath.Join(dir, "go.sum"), "")
			if code, _, said := runOperon(t, dir, "", "upgrade"); code != 0 || !strings.HasSuffix(said, "next: review what changed, then 'make test'\n") {
				t.Fatalf("upgrade: exit code %d\n%s", code, said)
			}
			offline := []string{"GOFLAGS=-mod=readonly", "GOPROXY=off"}
			goRun(t, dir, offline, "vet", "./...")
			if out := goRun(t, dir, offline, "mod", "tidy", "-diff"); out != "" {
				t.Errorf("not tidy:\n%s", out)
			}
			goRun(t, dir, append(offline, "KUBEBUILDER_ASSETS="+assets.Dir, "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=3m",
				"KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=3m"), "test", "./internal/...")
			if code, _, said := runOperon(t, dir, "", "upgrade", "--check"); code != 0 {
				t.Errorf("--check afterwards: exit code %d\n%s", code, said)
			}
		})
	}
}
