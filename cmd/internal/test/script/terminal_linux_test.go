package script

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestQuestionsAtATerminal answers the questions of create api and generate kustomize manifests at a pseudo-terminal, as a
// person would who gave few flags.
func TestQuestionsAtATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	atTerminal(t, dir, nil, "init", "--repo", "example.com/terminal", "--project-name", "terminal")
	atTerminal(t, dir, []answer{
		{"Group", "Cac_he\r"}, // refused, and asked again
		{"Cac_he", "\x7f\x7f\x7f\x7f\x7f\x7fcache\r"},
		{"Kind", "Memcached\r"},
		{"Create Resource", "y\r"},
		{"Create Controller", "n\r"},
	}, "create", "api", "--version", "v1", "--make=false")
	atTerminal(t, dir, []answer{
		{"Display name for the operator (required):", "\r"}, // refused, and asked again
		{"Input is required.", "'Memcached'\r"},
		{"Description for the operator (required):", "Runs memcached.\r"},
		{"Provider's name for the operator (required):", "Example\r"},
		{"Any relevant URL for the provider name (optional):", "\r"},
		{"Comma-separated list of keywords for your operator (required):", "cache, fast\r"},
		{"'name1:email1, name2:email2') (required):", "Ana\r"}, // neither is it an address
		{"is not of the form name:email", "Ana:ana@example.com\r"},
	}, "generate", "kustomize", "manifests")
	files := clitest.ReadTree(t, dir)
	base := files["config/manifests/bases/terminal.clusterserviceversion.yaml"]
	for _, want := range []string{"displayName: Memcached\n", "description: Runs memcached.\n", "    name: Example\n  version:", "- cache\n  - fast\n", "- email: ana@example.com\n    name: Ana\n"} {
		if !strings.Contains(base, want) {
			t.Errorf("no %q in the base:\n%s", want, base)
		}
	}
	if !strings.Contains(files["PROJECT"], "group: cache\n  kind: Memcached") || files["api/v1/memcached_types.go"] == "" {
		t.Errorf("the answers did not make the API:\n%s", files["PROJECT"])
	}
	if _, ok := files["internal/controller/memcached_controller.go"]; ok {
		t.Error("a controller was made though the answer was n")
	}
	if !strings.Contains(files["PROJECT"], "domain: my.domain\n") {
		t.Errorf("PROJECT does not have the default domain:\n%s", files["PROJECT"])
	}
}

// answer is what to type when a text has appeared.
type answer struct{ after, keys string }

// atTerminal runs operon at a pseudo-terminal.
func atTerminal(t *testing.T, dir string, answers []answer, args ...string) {
	t.Helper()
	terminal, end := openTerminal(t)
	c := exec.Command(os.Args[0], args...)
	c.Dir = dir
	c.Env = append(os.Environ(), clitest.KillVariable+"=0", "TERM=xterm")
	c.Stdin, c.Stdout, c.Stderr = end, end, end
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end.Close()
	printed := make(chan string)
	go func() {
		defer close(printed)
		for buffer := make([]byte, 4096); ; {
			n, err := terminal.Read(buffer)
			if err != nil { // the other end is closed: the command has ended
				return
			}
			printed <- string(buffer[:n])
		}
	}()
	var all, fresh strings.Builder
	for open := true; open; {
		var text string
		select {
		case text, open = <-printed:
			all.WriteString(text)
			fresh.WriteString(text)
			if strings.Contains(text, "\x1b[6n") { // where is the cursor?
				fmt.Fprint(terminal, "\x1b[1;1R")
			}
		case <-time.After(300 * time.Millisecond): // the question stands complete
			if len(answers) > 0 && strings.Contains(fresh.String(), answers[0].after) {
				fresh.Reset()
				fmt.Fprint(terminal, answers[0].keys)
				answers = answers[1:]
			}
		}
	}
	if err := c.Wait(); err != nil || len(answers) > 0 {
		t.Fatalf("operon %s: %v, %d answers not asked for\n%q", strings.Join(args, " "), err, len(answers), all.String())
	}
}

// openTerminal opens both ends of a pseudo-terminal.
func openTerminal(t *testing.T) (terminal, end *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	fd := int(terminal.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	end, err = os.OpenFile(filepath.Join("/dev/pts", fmt.Sprint(n)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return terminal, end
}
