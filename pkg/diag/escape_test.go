package diag_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/operon-sdk/operon/pkg/diag"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"Größe: 日本\u200d":  {"Größe: 日本\u200d", "Größe: 日本\u200d"},
		"a\n\tb\r\nc":      {"a\n\tb\r\nc", `a\n\tb\r\nc`},
		"a\rb":             {`a\rb`, `a\rb`},
		"\x1b[2Jx\x07\x7f": {`\x1b[2Jx\x07\x7f`, `\x1b[2Jx\x07\x7f`},
		"a\u202egnp.sh":    {`a\u202egnp.sh`, `a\u202egnp.sh`},
		"a\u2066b\u2069":   {`a\u2066b\u2069`, `a\u2066b\u2069`},
		"\u0085\u009b31m":  {`\u0085\u009b31m`, `\u0085\u009b31m`},
		"a\xffb\u2028":     {`a\xffb\u2028`, `a\xffb\u2028`},
		"\ufffd":           {"\ufffd", "\ufffd"},
	} {
		if got := [2]string{diag.Escape(text), diag.EscapeLine(text)}; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzFinding checks that no part of a finding can act on a terminal or begin a line of its own.
func FuzzFinding(f *testing.F) {
	f.Add("a\n::error::x", "spec\r\n", "is\x1b[31m\nerror: y", "fix\u202e", "v\n", "s\n")
	f.Fuzz(func(t *testing.T, file, field, problem, fix, value, suggestion string) {
		for _, finding := range []diag.Finding{
			{Position: diag.Position{File: file, Line: 1}, Field: field, Problem: problem, Fix: fix, Value: value},
			{Field: field, Problem: problem, Fix: fix, Value: value, Suggestion: suggestion},
		} {
			text := diag.Escape(diag.Continue(finding.Error()))
			for i, line := range strings.Split(text, "\n") {
				if i > 0 && !strings.HasPrefix(line, "  ") {
					t.Errorf("%q has the line %q", text, line)
				}
			}
			for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
				if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
					t.Errorf("%q contains %q", text, r)
				}
			}
			if !utf8.ValidString(text) {
				t.Errorf("%q is not valid UTF-8", text)
			}
		}
	})
}
