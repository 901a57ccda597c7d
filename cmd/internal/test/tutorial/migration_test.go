package tutorial

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestMigration executes the commands of operator-sdk 0.x on the migration page, which must succeed with the output on the
// page, and checks that all commands in its table exist.
func TestMigration(t *testing.T) {
	t.Parallel()
	if err := clitest.DownloadModules(); err != nil {
		t.Fatal(err)
	}
	page := clitest.ReadFile(t, clitest.Root("docs", "migration.md"))
	_, console, _ := strings.Cut(page, "## Commands of operator-sdk 0.x")
	_, console, found := strings.Cut(console, "```console\n")
	console, _, _ = strings.Cut(console, "```")
	if !found {
		t.Fatal("docs/migration.md has no commands of operator-sdk 0.x")
	}
	dir, output, commands := t.TempDir(), "", 0
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
			if !strings.Contains(output, line+"\n") {
				t.Errorf("the output lacks %q:\n%s", line, output)
			}
		case words[0] == "cd":
			dir = filepath.Join(dir, words[1])
		default:
			var code int
			commands++
			if code, output = call(words...); code != 0 {
				t.Fatalf("%s: exit code %d\n%s", typed, code, output)
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
		t.Errorf("found %d commands and %d table entries", commands, rows)
	}
}
