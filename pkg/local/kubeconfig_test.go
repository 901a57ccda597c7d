package local

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestKubeconfig writes the kubeconfigs of three runs. The first was killed, the second ends after the third has started.
func TestKubeconfig(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := filepath.Join(root, filepath.FromSlash(KubeconfigFile))
	git(t, root, "init", "--quiet")
	for _, kubeconfig := range []string{"first", "second", "third"} {
		if err := writeKubeconfig(root, []byte(kubeconfig)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil || string(data) != kubeconfig {
			t.Errorf("got %q, %v, want %q", data, err, kubeconfig)
		}
		if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if status := git(t, root, "status", "--porcelain"); status != "" {
			t.Errorf("git does not ignore\n%s", status)
		}
		if kubeconfig == "first" {
			if err := os.Chmod(file, 0o444); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := removeKubeconfig(root, []byte("second")); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "third" {
		t.Errorf("the end of the second run left %q, %v", data, err)
	}
	for range 2 {
		if err := removeKubeconfig(root, []byte("third")); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Dir(file)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory is left: %v", err)
	}
	if err := removeKubeconfig(filepath.Join(root, "gone"), nil); err != nil {
		t.Error(err)
	}
}

// TestKubeconfigBesideFiles checks that the user's files in .operon stay, and that a link does not lead out of the project.
func TestKubeconfigBesideFiles(t *testing.T) {
	t.Parallel()
	root, other := t.TempDir(), t.TempDir()
	write(t, root, ".operon/.gitignore", "*\n")
	if err := writeKubeconfig(root, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := removeKubeconfig(root, []byte("a")); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(filepath.Join(root, ".operon"))
	if err != nil || len(entries) != 1 || entries[0].Name() != ".gitignore" {
		t.Errorf("got %v, %v, want the .gitignore", entries, err)
	}
	if runtime.GOOS == "windows" {
		return // links need rights there
	}
	root = t.TempDir()
	if err := os.Symlink(other, filepath.Join(root, ".operon")); err != nil {
		t.Fatal(err)
	}
	err = writeKubeconfig(root, []byte("a"))
	if entries, _ := os.ReadDir(other); err == nil || len(entries) > 0 || strings.Contains(err.Error(), root) {
		t.Errorf("got %v, and %v outside of the project", err, entries)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
