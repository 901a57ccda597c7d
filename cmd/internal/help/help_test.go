package help

import "testing"

// TestHelpWraps checks how texts, flags and commands are wrapped.
func TestHelpWraps(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, got, want string }{
		{"paragraphs", wrapText("one two\nthree four\n\n  kept as it is\n\n- item one two\n- item", 11),
			"one two\nthree four\n\n  kept as it is\n\n- item\n  one two\n- item\n"},
		{"long word", wrapText("a https://example.com/long b", 10), "a\nhttps://example.com/long\nb\n"},
		{"command", wrapCommands("  run --first 1 --second 2\n  # a comment that is long\n", 20), "  run --first 1 \\\n      --second 2\n  # a comment that is long\n"},
		{"quoted", wrapCommands("  run --text 'one two three' end", 20), "  run \\\n      --text \\\n      'one two three' end\n"},
		{"columns", columns([][2]string{{"  -a", "one two three"}, {"  --a-flag-that-is-too-long-for-columns", "four"}}, 30), "  -a   one two three\n  --a-flag-that-is-too-long-for-columns\n       four\n"},
		{"narrow", columns([][2]string{{"  --a-flag", "one two three"}}, 20), "  --a-flag\n        one two\n        three\n"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, test.got, test.want)
		}
	}
}
