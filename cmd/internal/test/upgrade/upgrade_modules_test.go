//go:build unix

package upgrade

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestUpgradeWithEmptyModuleCache upgrades a project with the module cache of the machine and with an empty one, which
// is filled from the first: the results are the same and tidy.
func TestUpgradeWithEmptyModuleCache(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it unpacks modules")
	for _, p := range oldProjects() {
		t.Run(p.sdk, func(t *testing.T) {
			t.Parallel()
			warm, cold := p.unpack(t), p.unpack(t)
			p.editOld(t, warm)
			p.editOld(t, cold)
			// What the compiler makes is the same for every module cache then.
			flags := "GOFLAGS=-trimpath -modcacherw"
			if code, out, errOut := clitest.RunWith(t, warm, "", []string{flags}, "upgrade"); code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, out, errOut)
			}

			empty := []string{
				flags, "GOMODCACHE=" + t.TempDir(), "GOSUMDB=off",
				"GOPROXY=file://" + filepath.ToSlash(clitest.GoEnv(t, "GOMODCACHE")) + "/cache/download",
			}
			before := clitest.ReadTree(t, cold)
			code, out, errOut := clitest.RunWith(t, cold, "", empty, "upgrade", "--offline")
			for _, want := range []string{"the module cache lacks ", "sigs.k8s.io/controller-runtime@v0.25.2", "; run the command again without --offline"} {
				if code != 1 || out != "" || !strings.Contains(errOut, want) {
					t.Errorf("--offline: exit code %d\n%s%s\nwant %q", code, out, errOut, want)
				}
			}
			if changed := differing(before, clitest.ReadTree(t, cold)); len(changed) > 0 {
				t.Errorf("--offline changed %q", changed)
			}

			code, out, errOut = clitest.RunWith(t, cold, "", empty, "upgrade")
			if code != 0 || !strings.Contains(errOut, "downloading sigs.k8s.io/controller-runtime v0.25.2\n") {
				t.Fatalf("exit code %d\n%s%s", code, out, errOut)
			}
			want, got := clitest.ReadTree(t, warm), clitest.ReadTree(t, cold)
			for _, name := range differing(want, got) {
				t.Errorf("%s differs with an empty module cache:\n%s", name, clitest.DiffLines(want[name], got[name]))
			}
			clitest.RunGo(t, cold, append(empty, "GOPROXY=off"), "mod", "tidy", "-diff")
		})
	}
}
