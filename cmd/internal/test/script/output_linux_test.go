package script

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestChangesAtATerminal checks that many changes are counted by directory at a terminal, few are listed, and a command
// without changes reports that everything is up to date.
func TestChangesAtATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		return clitest.StartTerminal(t, dir, 200, nil, args...).MustEnd(0)
	}
	for _, command := range []struct {
		args        string
		want, never string
	}{
		{"init --domain example.com --repo example.com/terminal --project-name terminal", ", config/ ", "created  Makefile"},
		{"generate", "everything is up to date", "updated"},
		{"generate --check", "everything is up to date", "updated"},
		{"-q generate", "", "up to date"},
		{"create api --group cache --version v1 --kind Memcached --resource --controller", "created  api/v1/memcached_types.go", "created  Makefile"},
		{"upgrade", "the project is up to date", "everything"},
	} {
		screen := run(strings.Fields(command.args)...)
		if !strings.Contains(screen, command.want) || strings.Contains(screen, command.never) {
			t.Errorf("%s: no %q or a %q in\n%s", command.args, command.want, command.never, screen)
		}
	}
}
