package script

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestHelpFitsTheTerminal checks that help is wrapped to the width of the terminal, up to a width that is readable.
func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ columns, atLeast, atMost int }{{60, 50, 60}, {200, 90, 100}} {
		terminal := clitest.StartTerminal(t, t.TempDir(), test.columns, nil, "bundle", "--help")
		terminal.MustEnd(0)
		longest := 0
		for line := range strings.Lines(terminal.Output()) {
			longest = max(longest, len(strings.TrimRight(line, "\r\n")))
		}
		if longest < test.atLeast || longest > test.atMost {
			t.Errorf("at a terminal of %d columns the longest line has %d, want %d to %d\n%s", test.columns, longest, test.atLeast, test.atMost, terminal.Output())
		}
	}
}
