package userstate

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestIdentity expects the state of a project to be found by any path, after the project was moved, and not for a copy.
func TestIdentity(t *testing.T) {
	t.Parallel()
	dirs := []string{filepath.Join(t.TempDir(), "state")}
	parent := t.TempDir()
	root := filepath.Join(parent, "project")
	other := filepath.Join(parent, "other")
	for _, dir := range []string{root, other} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	made, err := Make(dirs, root)
	if err != nil {
		t.Fatal(err)
	}
	find := func(root string) string {
		t.Helper()
		found, err := Find(dirs, root)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	link := filepath.Join(parent, "link")
	if err := os.Symlink(root, link); err == nil && find(link) != made {
		t.Errorf("%s is not the state directory of a link", made)
	}
	if find(root) != made || find(other) == made {
		t.Errorf("the projects have the states %s and %s, made was %s", find(root), find(other), made)
	}
	if again, err := Make(dirs, root); err != nil || again != made {
		t.Errorf("made %s the second time, %v", again, err)
	}
	moved := filepath.Join(parent, "moved")
	if err := os.Rename(root, moved); err != nil {
		t.Fatal(err)
	}
	if find(moved) != made {
		t.Error("the state of a moved project is not found")
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(made); err != nil || info.Mode().Perm() != Mode {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
}

// TestForeignDirectory expects directories that others can write to, and other files, to be refused, and the next candidate to
// be used.
func TestForeignDirectory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	base := t.TempDir()
	file, open, link, good := filepath.Join(base, "file"), filepath.Join(base, "open"), filepath.Join(base, "link"), filepath.Join(base, "good")
	bad := []string{file}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Mkdir(open, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(open, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(t.TempDir(), link); err != nil {
			t.Fatal(err)
		}
		bad = append(bad, open, link)
	}
	if os.Getuid() == 0 {
		foreign := filepath.Join(base, "foreign")
		if err := os.Mkdir(foreign, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(foreign, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		bad = append(bad, foreign)
	}
	for _, dir := range bad {
		if made, err := Make([]string{dir}, root); err == nil || !strings.Contains(err.Error(), "set XDG_STATE_HOME") {
			t.Errorf("made %s in %s: %v", made, dir, err)
		}
	}
	made, err := Make(append(bad, good), root)
	if err != nil || !strings.HasPrefix(made, good) {
		t.Errorf("made %s: %v", made, err)
	}
	if found, err := Find(append(bad, good), root); err != nil || found != made {
		t.Errorf("found %s, made %s: %v", found, made, err)
	}
}

// TestDirs expects the environment and the home directory to decide, and relative paths to be ignored, as the XDG specification
// requires.
func TestDirs(t *testing.T) {
	t.Parallel()
	home, state := t.TempDir(), t.TempDir()
	for _, test := range []struct {
		xdg, home, want string
		count           int
	}{
		{state, home, filepath.Join(state, "operon"), 2},
		{"", home, home, 2},
		{"relative", home, home, 2},
		{"", "", os.TempDir(), 1},
	} {
		if runtime.GOOS == "windows" && !filepath.IsAbs(test.xdg) {
			continue // LocalAppData decides
		}
		got := Dirs(func(name string) string {
			return map[string]string{"XDG_STATE_HOME": test.xdg, "HOME": test.home}[name]
		})
		if len(got) != test.count || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
