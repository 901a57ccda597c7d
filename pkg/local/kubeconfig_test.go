package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestKubeconfig runs a project twice under the same name, of which the first run is killed, and at the same time once under another
// name.
func TestKubeconfig(t *testing.T) {
	t.Parallel()
	root, dirs := t.TempDir(), []string{filepath.Join(t.TempDir(), "state")}
	git(t, root, "init", "--quiet")
	claimed := func(name string) *claim {
		t.Helper()
		c, err := claimRun(dirs, root, name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	other := claimed("other")
	if err := other.publish([]byte("other")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, filepath.FromSlash(KubeconfigFile))
	for _, kubeconfig := range []string{"first", "second"} {
		c := claimed("")
		if err := c.publish([]byte(kubeconfig)); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{file, filepath.Join(c.state, "kubeconfig")} {
			if data, err := os.ReadFile(file); err != nil || string(data) != kubeconfig {
				t.Errorf("got %q, %v, want %q", data, err, kubeconfig)
			}
			if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		}
		if status := git(t, root, "status", "--porcelain"); status != "" {
			t.Errorf("git does not ignore\n%s", status)
		}
		_, err := claimRun(dirs, root, "")
		if want := fmt.Sprintf("process %d already runs the project in %s", os.Getpid(), root); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("a run at the same time gives %v", err)
		}
		if kubeconfig == "second" {
			for range 2 {
				if err := c.withdraw([]byte(kubeconfig)); err != nil {
					t.Error(err)
				}
			}
			c.release()
		} else if err := c.lock.Close(); err != nil { // as the system does when it is killed
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the kubeconfig is left: %v", err)
	}
	if data, err := os.ReadFile(file + "-other"); err != nil || string(data) != "other" {
		t.Errorf("the kubeconfig of the other run is %q, %v", data, err)
	}
	if err := other.withdraw([]byte("other")); err != nil {
		t.Error(err)
	}
	other.release()
	for _, dir := range []string{filepath.Dir(file), other.state} {
		if entries, err := os.ReadDir(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is left: %v", entries, err)
		}
	}
}

// TestKubeconfigBesideFiles checks that the user's files in .operon stay, and that a link is not followed.
func TestKubeconfigBesideFiles(t *testing.T) {
	t.Parallel()
	root, other := t.TempDir(), t.TempDir()
	write(t, root, ".operon/.gitignore", "*\n")
	c := &claim{root: root, state: t.TempDir()}
	if err := c.publish([]byte("a")); err != nil {
		t.Fatal(err)
	}
	write(t, root, ".operon/kubeconfig", "of another program")
	if err := c.withdraw([]byte("a")); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(filepath.Join(root, ".operon"))
	if err != nil || len(entries) != 2 {
		t.Errorf("got %v, %v, want .gitignore and kubeconfig", entries, err)
	}
	if runtime.GOOS == "windows" {
		return // links need rights there
	}
	for _, target := range []string{other, ".git"} {
		c.root = t.TempDir()
		write(t, c.root, ".git/config", "")
		if err := os.Symlink(target, filepath.Join(c.root, ".operon")); err != nil {
			t.Fatal(err)
		}
		err = c.publish([]byte("a"))
		if entries, _ := os.ReadDir(other); err == nil || len(entries) > 0 || strings.Contains(err.Error(), c.root) {
			t.Errorf("got %v, and %v outside of the project", err, entries)
		}
		if entries, _ := os.ReadDir(filepath.Join(c.root, ".git")); len(entries) != 1 {
			t.Errorf("%v in .git", entries)
		}
	}
}

// TestKubectlIgnoresProject expects a kubeconfig in the project to be ignored, as it may have come with a clone.
func TestKubectlIgnoresProject(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, KubeconfigFile, "apiVersion: v1\nkind: Config\n")
	for args, want := range map[string]string{"get pods": "no control plane runs for this project; start one", "__complete get ": "no control plane", "config view": ""} {
		environ, err := KubectlEnviron(t.Context(), []string{t.TempDir()}, func() (string, error) { return root, nil }, nil, strings.Fields(args))
		if len(environ) > 0 || (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %q, %v", args, environ, err)
		}
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
