package console

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	const output = "NAME    AGE\nsample  5s\n\ndone in 3 s\n"
	for _, test := range []struct{ want, problem string }{
		{"NAME AGE\nsample 5s\ndone in 3 s", ""},
		{"NAME AGE\nsample …\ndone in … s", ""},
		{"…\ndone in 3 s", ""},
		{"NAME AGE\n…", ""},
		{"NAME AGE\n…\ndone in 3 s", ""},
		{"…\nsample 5s\n…", ""},
		{"NAME AGE\nsample 5s", `unexpected output "done in 3 s"`},
		{"sample 5s\n…", `the output has "NAME AGE" instead of "sample 5s"`},
		{"NAME AGE\ndone in 3 s", `the output has "sample 5s" instead of "done in 3 s"`},
		{"…\nsample", `the output lacks "sample"`},
		{"…\ndone in 3 s\ndone in 3 s", `the output lacks "done in 3 s"`},
	} {
		problem := ""
		if err := Compare(strings.Split(test.want, "\n"), output); err != nil {
			problem = err.Error()
		}
		if problem != test.problem {
			t.Errorf("%q: %q, want %q", test.want, problem, test.problem)
		}
	}
}
