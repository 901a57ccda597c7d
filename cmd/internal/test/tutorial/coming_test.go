package tutorial

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestComing executes the README's page for people who come from operator-sdk and kubebuilder: its commands
// must succeed and say what stands below them, and its table must name no command that is not there.
func TestComing(t *testing.T) {
	t.Parallel()
	if err := clitest.DownloadModules(); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(clitest.Root("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, page, ok := strings.Cut(string(readme), "\n## Coming from operator-sdk / kubebuilder\n")
	page, _, _ = strings.Cut(page, "\n## ")
	_, console, found := strings.Cut(page, "```console\n")
	console, _, _ = strings.Cut(console, "```")
	if !ok || !found {
		t.Fatal("the README has no such page")
	}
	dir, said, commands := t.TempDir(), "", 0
	call := func(args ...string) (int, string) {
		var out bytes.Buffer
		env, err := cmd.System()
		if err != nil {
			t.Fatal(err)
		}
		env.In, env.Out, env.Err, env.Dir, env.InTerminal, env.InPipe = strings.NewReader(""), &out, &out, dir, false, false
		code := cmd.Main(t.Context(), env, args)
		return code, out.String()
	}
	for line := range strings.Lines(console) {
		line = strings.TrimSpace(line)
		typed, isCommand := strings.CutPrefix(line, "$ ")
		words := strings.Fields(typed)
		switch {
		case !isCommand:
			if !strings.Contains(said, line+"\n") {
				t.Errorf("it does not say %q, but\n%s", line, said)
			}
		case words[0] == "cd":
			dir = filepath.Join(dir, words[1])
		default:
			var code int
			commands++
			if code, said = call(words...); code != 0 {
				t.Fatalf("%s: exit code %d\n%s", typed, code, said)
			}
		}
	}
	rows := 0
	for _, quoted := range strings.Split(page, "`") {
		if command, ok := strings.CutPrefix(quoted, "operon "); ok && !strings.Contains(command, "\n") {
			rows++
			words := []string{"operon", "help"}
			for _, word := range strings.Fields(command) {
				if strings.HasPrefix(word, "-") || word == "…" || len(words) == 4 {
					break
				}
				words = append(words, word)
			}
			if code, out := call(words...); code != 0 || !strings.Contains(out, "operon "+strings.Join(words[2:], " ")) {
				t.Errorf("%v: exit code %d\n%s", words, code, out)
			}
		}
	}
	if commands < 6 || rows < 15 {
		t.Errorf("found %d commands and %d in the table", commands, rows)
	}
}
