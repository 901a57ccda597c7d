package generate

import (
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestGoEnds checks that a go command and its compilers end with the command that runs it, and that no temporary file of
// either is left.
func TestGoEnds(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it compiles without a build cache")
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the test itself runs with SIGHUP ignored, as with nohup")
	}
	dir := clitest.CopyGolden(t, "memcached-operator")
	for _, c := range []struct {
		tool string
		args []string
	}{
		{"compile", []string{"image", "build", "--base", "scratch", "--image", "example.com/manager:v1", "--tarball", "manager.tar"}},
		{"go", []string{"generate", "--check"}}, // by a library
	} {
		for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
			// Without caches there is something to do.
			p := clitest.StartProcess(t, dir, []string{"GOCACHE=" + t.TempDir(), clitest.CacheVariable + "=" + t.TempDir()}, c.args...)
			runs := func() bool {
				files, _ := filepath.Glob(filepath.Join(p.TempDir, "operon-*", "go-*")) // the pattern is valid
				return len(files) > 0 && (c.tool == "go" || slices.Contains(clitest.ProcessesOf(p.TempDir), c.tool))
			}
			for deadline := time.Now().Add(5 * time.Minute); !runs(); time.Sleep(time.Millisecond) {
				select {
				case <-p.Done:
					t.Fatalf("it ended before %s ran", c.tool)
				default:
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s never ran", c.tool)
				}
			}
			if err := p.Cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			if s != syscall.SIGKILL {
				p.MustEnd(1)
				continue
			}
			<-p.Done
			clitest.CheckNoProcesses(t, p.TempDir, 30*time.Second)
			clitest.StartProcess(t, dir, []string{"TMPDIR=" + p.TempDir}, "version").MustEnd(0)
		}
	}
}
