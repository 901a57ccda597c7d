package main

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
		if err := compare(strings.Split(test.want, "\n"), output); err != nil {
			problem = err.Error()
		}
		if problem != test.problem {
			t.Errorf("%q: %q, want %q", test.want, problem, test.problem)
		}
	}
}

func TestParse(t *testing.T) {
	steps, err := parse("# T\n\n## S\n\n### Part\n\n```console\n$ operon create api --kind A \\\n    --group 'b  c'\ncreated  api\n…\n$ operon run local\npress Ctrl-C to stop\n^C\nstopped\n```\n\n## Next\n", "S")
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 3 {
		t.Fatalf("%d steps: %+v", len(steps), steps)
	}
	create, run, stop := steps[0], steps[1], steps[2]
	if got := strings.Join(create.words, "|"); got != "operon|create|api|--kind|A|--group|b  c" || create.heading != "Part" {
		t.Errorf("words %s, heading %s", got, create.heading)
	}
	if got := strings.Join(create.want, "|"); got != "created api|…" {
		t.Errorf("want %s", got)
	}
	if create.background || !run.background || !stop.interrupt {
		t.Errorf("background %v, %v, interrupt %v", create.background, run.background, stop.interrupt)
	}
}
