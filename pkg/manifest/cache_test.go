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
			first, built, err := manifest.RefuseRemote.BuildAgain(t.Context(), dir, "top", false, nil, nil)
			if err != nil || built == nil {
				t.Fatal(built, err)
			}
			built.Output = append([]byte("# cached\n"), built.Output...)
			write(t, dir, change)
			again, rebuilt, err := manifest.RefuseRemote.BuildAgain(t.Context(), dir, "top", false, nil, built)
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

// TestBuildAgainLoose checks that a kustomization can read files in other directories of the project, but none outside of it.
func TestBuildAgainLoose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(dir, "..", "outside.txt")
	write(t, filepath.Dir(outside), map[string]string{"outside.txt": "secret"})
	write(t, dir, map[string]string{"docs/v.txt": "a=1\n", "base/kustomization.yaml": "resources:\n- a.yaml\n", "base/a.yaml": configMap("a")})
	if err := os.Symlink(outside, filepath.Join(dir, "docs/link.txt")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	for file, readable := range map[string]bool{"../docs/v.txt": true, "../../outside.txt": false, filepath.ToSlash(outside): false, "../docs/link.txt": false} {
		write(t, dir, map[string]string{"top/kustomization.yaml": "resources:\n- ../base\nconfigMapGenerator:\n- name: c\n  files: [x=" + file + "]\n"})
		out, built, err := manifest.RefuseRemote.BuildAgain(t.Context(), dir, "top", true, nil, nil)
		if (err == nil) != readable || strings.Contains(string(out), "secret") {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
		if _, _, err := manifest.RefuseRemote.BuildAgain(t.Context(), dir, "top", false, nil, built); err == nil {
			t.Errorf("%s is read without the flag", file)
		}
	}
	if _, built, err := manifest.RefuseRemote.BuildAgain(t.Context(), dir, "top", true, map[string][]byte{
		"docs/new.txt": []byte("b=2\n"), "top/kustomization.yaml": []byte("configMapGenerator:\n- name: c\n  files: [../docs/new.txt]\n"),
	}, nil); err != nil || !strings.Contains(string(built.Output), "b=2") {
		t.Errorf("a file in memory: %v", err)
	}
}

// TestBuildAgainEnvironment checks that nothing is cached that files do not decide alone.
func TestBuildAgainEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"top/kustomization.yaml": "configMapGenerator:\n- name: c\n  envs:\n  - v.txt\n", "top/v.txt": "PATH\n",
	})
	if _, built, err := manifest.RefuseRemote.BuildAgain(t.Context(), dir, "top", false, nil, nil); err != nil || built != nil {
		t.Error("a kustomization of the environment is cached", err)
	}
}
