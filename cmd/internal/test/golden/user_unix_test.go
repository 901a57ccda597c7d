//go:build unix

package golden

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestOtherUser checks that projects do not depend on the user, umask and home directory.
func TestOtherUser(t *testing.T) {
	t.Parallel()
	base, program := clitest.ShareProgram(t)
	want := scaffoldAs(t, program, filepath.Join(base, "root"), 0, "022")
	got := scaffoldAs(t, program, filepath.Join(base, "nobody"), clitest.Nobody, "077")
	clitest.CompareTrees(t, want, got)
	modes := modesOf(t, got)
	for name, mode := range modesOf(t, want) {
		if other := modes[name]; other != mode {
			t.Errorf("%s has mode %v, and %v for another user", name, mode, other)
		}
	}
}

// scaffoldAs creates a project in dir as another user.
func scaffoldAs(t *testing.T, program, dir string, uid int, umask string) string {
	t.Helper()
	project := filepath.Join(dir, "project")
	for _, name := range []string{dir, filepath.Join(dir, "home"), filepath.Join(dir, "tmp"), project} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(name, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"init --domain example.com --repo example.com/memcached-operator --owner Example",
		"create api --group cache --version v1alpha1 --kind Memcached --resource --controller",
		"create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --programmatic-validation",
		"generate",
		"bundle",
		"edit --multigroup --no-verify",
		"create api --group cache --version v1beta1 --kind Memcached --resource --controller=false",
	} {
		c := exec.Command("/bin/sh", append([]string{"-c", `umask "$0" && exec "$@"`, umask, program}, strings.Fields(line)...)...)
		c.Dir = project
		c.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"),
			"GOPROXY=off", "GOTOOLCHAIN=local", "SOURCE_DATE_EPOCH=1767225600", clitest.KillVariable + "=0",
		}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("operon %s: %v\n%s", line, err, out)
		}
	}
	return project
}

// modesOf returns the modes of the files and directories in dir.
func modesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	modes := map[string]string{}
	clitest.WalkTree(t, dir, func(p string, d fs.DirEntry) {
		info, err := d.Info()
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		modes[rel] = fmt.Sprint(info.Mode())
	})
	return modes
}
