package console

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	steps, err := Parse("# T\n\n## S\n\n### Part\n\n```console\n$ operon create api --kind A \\\n    --group 'b  c'\ncreated  api\n…\n$ operon run local\npress Ctrl-C to stop\n^C\nstopped\n```\n\n"+
		"```go\n# no heading\n```\n\n```sh\n# a comment\noperon init   # another\noperon edit --name 'a # b'\n```\n\n## Next\n", "S")
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 6 {
		t.Fatalf("%d steps: %+v", len(steps), steps)
	}
	create, run, stop, code, sh, edit := steps[0], steps[1], steps[2], steps[3], steps[4], steps[5]
	if got := strings.Join(create.Words, "|"); got != "operon|create|api|--kind|A|--group|b  c" || create.Heading != "Part" {
		t.Errorf("words %s, heading %s", got, create.Heading)
	}
	if got := strings.Join(create.Want, "|"); got != "created api|…" {
		t.Errorf("want %s", got)
	}
	if create.Background || !run.Background || !stop.Interrupt {
		t.Errorf("background %v, %v, interrupt %v", create.Background, run.Background, stop.Interrupt)
	}
	if code.Language != "go" || code.Code != "# no heading\n" || code.Block != 2 || code.Heading != "" {
		t.Errorf("code %+v", code)
	}
	if sh.Line != "operon init" || sh.Block != 3 || edit.Line != "operon edit --name 'a # b'" || len(edit.Words) != 4 {
		t.Errorf("sh %+v, %+v", sh, edit)
	}
}

func TestParseRejects(t *testing.T) {
	for page, want := range map[string]string{
		"text\n":                              "no commands found",
		"```console\nfoo\n```\n":              "output before any command: foo",
		"```console\n$ operon 'a\n```\n":      "operon 'a: missing closing quote",
		"```go\nx\n```\n```console\nfoo\n```": "output before any command: foo",
	} {
		if _, err := Parse(page, ""); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", page, err, want)
		}
	}
	if _, err := Parse("# T\n", "S"); err == nil || err.Error() != "section ## S not found" {
		t.Errorf("got %v", err)
	}
}
