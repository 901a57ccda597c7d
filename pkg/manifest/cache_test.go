package manifest_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// write writes files below a directory, by slash-separated names.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n"
}

// TestBuildOver checks that files that are laid over a directory count as if they were there.
func TestBuildOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"top/kustomization.yaml": "resources:\n- ../one\n- ../two\n",
		"one/kustomization.yaml": "resources:\n- a.yaml\n", "one/a.yaml": configMap("old"),
	})
	if _, err := manifest.Build(dir, "top"); err == nil {
		t.Error("what is missing was built")
	}
	over := map[string][]byte{"one/a.yaml": []byte(configMap("new")), "two/b.yaml": []byte(configMap("more")),
		"two/kustomization.yaml": []byte("resources:\n- b.yaml\n")}
	got, err := manifest.RefuseRemote.Build(t.Context(), dir, "top", over)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"one/a.yaml": configMap("new"), "two/b.yaml": configMap("more"), "two/kustomization.yaml": "resources:\n- b.yaml\n"})
	want, err := manifest.Build(dir, "top")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) || !strings.Contains(string(want), "name: more") {
		t.Errorf("the overlay gives\n%s\ninstead of\n%s", got, want)
	}
	if _, err := manifest.RefuseRemote.Build(t.Context(), dir, "top", map[string][]byte{"one/a.yaml": nil}); err == nil {
		t.Error("a file that is taken away was built")
	}
	// A directory may have another name, through a symbolic link.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("Windows requires a privilege for symbolic links: %v", err)
		}
		t.Fatal(err)
	}
	got, err = manifest.RefuseRemote.Build(t.Context(), link, "top", map[string][]byte{"one/a.yaml": []byte(configMap("linked")), "three/c.yaml": []byte(configMap("far")),
		"three/kustomization.yaml": []byte("resources:\n- c.yaml\n"),
		"top/kustomization.yaml":   []byte("resources:\n- ../one\n- ../three\n")})
	if err != nil || !strings.Contains(string(got), "name: linked") || !strings.Contains(string(got), "name: far") {
		t.Errorf("through a link: %v\n%s", err, got)
	}
}

// TestBuildAgain checks that a build is cached as long as nothing changes that it looked at.
func TestBuildAgain(t *testing.T) {
	t.Parallel()
	kustomization := "resources:\n- a.yaml\n"
	for name, change := range map[string]map[string]string{
		"nothing":             {},
		"a manifest":          {"top/a.yaml": configMap("other")},
		"the kustomization":   {"top/kustomization.yaml": kustomization + "namePrefix: x-\n"},
		"a file of variables": {"top/v.txt": "b=2\n"},
		"another file":        {"top/other.yaml": configMap("other")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"top/kustomization.yaml": kustomization + "configMapGenerator:\n- name: c\n  files: [v.txt]\n", "top/a.yaml": configMap("a"), "top/v.txt": "a=1\n"})
			first, built, err := manifest.RefuseRemote.BuildAgain(t.Context(), dir, "top", nil, nil)
			if err != nil || built == nil {
				t.Fatal(built, err)
			}
			built.Output = append([]byte("# cached\n"), built.Output...)
			write(t, dir, change)
			again, rebuilt, err := manifest.RefuseRemote.BuildAgain(t.Context(), dir, "top", nil, built)
			if err != nil {
				t.Fatal(err)
			}
			want, err := manifest.Build(dir, "top")
			if err != nil {
				t.Fatal(err)
			}
			same := string(want) == string(first)
			if cached := strings.HasPrefix(string(again), "# cached\n"); cached != same || cached != (rebuilt == nil) {
				t.Errorf("cached: %v, the same: %v", cached, same)
			}
			if !same && string(again) != string(want) {
				t.Errorf("it was built to\n%s\ninstead of\n%s", again, want)
			}
		})
	}
}

// TestBuildAgainEnvironment checks that nothing is cached that files do not decide alone.
func TestBuildAgainEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"top/kustomization.yaml": "configMapGenerator:\n- name: c\n  envs:\n  - v.txt\n", "top/v.txt": "PATH\n",
	})
	if _, built, err := manifest.RefuseRemote.BuildAgain(t.Context(), dir, "top", nil, nil); err != nil || built != nil {
		t.Error("a kustomization of the environment is cached", err)
	}
}
