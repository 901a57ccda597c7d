package output

import (
	"strings"
	"testing"
)

// TestWrap checks that lines end at words, that further lines are indented, and that a command which fits into a line stays in one.
func TestWrap(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"short\n":                                  "short\n",
		"exactly twenty chars\n":                   "exactly twenty chars\n",
		"a line of more than 20 columns\n":         "a line of more than\n  20 columns\n",
		"  - indented more than 20 columns":        "  - indented more\n    than 20 columns",
		"next: run 'operon create'":                "next: run\n  'operon create'",
		"it doesn't count as 'a quotation'":        "it doesn't count as\n  'a quotation'",
		"run 'operon create api --group cache'":    "run 'operon create\n  api --group cache'",
		"see https://example.com/a/long/page now":  "see\n  https://example.com/a/long/page\n  now",
		"\x1b[31merror:\x1b[0m just 20 wide.":      "\x1b[31merror:\x1b[0m just 20 wide.",
		"\x1b[31merror:\x1b[0m more than 20 wide":  "\x1b[31merror:\x1b[0m more than 20\n  wide",
		"two lines\nof which one has many words\n": "two lines\nof which one has\n  many words\n",
	} {
		if got := wrap(message, 20); got != want {
			t.Errorf("%q\n got %q\nwant %q", message, got, want)
		}
	}
	if long := strings.Repeat("x", 50); wrap(long, 20) != long {
		t.Error("a word is broken")
	}
}
