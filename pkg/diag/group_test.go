package diag_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
)

// TestSections renders what errors say as one line: HEADING{FINDING|FINDING|LINE}.
func TestSections(t *testing.T) {
	t.Parallel()
	a, b := diag.Finding{Position: diag.Position{File: "a", Line: 1}, Problem: "x"}, diag.Finding{Field: "--b", Problem: "is required"}
	many := make(diag.Findings, diag.MaxListed+2)
	for i := range many {
		many[i].Problem = fmt.Sprint(i)
	}
	plain := errors.New("plain\n")
	group := &diag.Group{Heading: "wrong:", Err: diag.Findings{a, b}, Advice: []string{"correct it"}}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"nothing", nil, ""},
		{"no findings", diag.Findings{}, ""},
		{"a plain error", plain, "{plain}"},
		{"a finding", a, "{a:1: x}"},
		{"findings", diag.Findings{a, b}, "{a:1: x|--b is required}"},
		{"a finding with context", fmt.Errorf("reading: %w", a), "{reading: a:1: x}"},
		{"several causes in one text", fmt.Errorf("%w: %w", plain, a), "{plain\n: a:1: x}"},
		{"a list", errors.Join(diag.Findings{a}, plain, group), "{a:1: x} {plain} wrong:{--b is required|correct it}"},
		{"repetitions", errors.Join(a, diag.Findings{a, b}, b), "{a:1: x} {--b is required}"},
		{"errors that add no text", diag.Usage(fmt.Errorf("%w", errors.Join(a, b))), "{a:1: x} {--b is required}"},
		{"a group", group, "wrong:{a:1: x|--b is required|correct it}"},
		{"a group in a group", &diag.Group{Heading: "all:", Err: errors.Join(plain, group), Advice: []string{"try"}}, "all:{plain|wrong:|a:1: x|--b is required|correct it|try}"},
		{"a group of one error", &diag.Group{Heading: "wrong:", Err: plain}, "wrong:{plain}"},
		{"advice about a group", diag.Advise(group, "again"), "wrong:{a:1: x|--b is required|correct it|again}"},
		{"advice about an error", diag.Advise(plain, "again"), "{plain|again}"},
		{"a fix of a finding", diag.WithFix(a, "go"), "{a:1: x; go}"},
		{"a fix of a value", diag.WithFix(b, "go"), "{--b is required; go}"},
		{"a fix of an error", diag.WithFix(errors.New("plain"), "go"), "{plain; go}"},
	} {
		var sections []string
		for _, s := range diag.Sections(test.err) {
			shown, below := s.Shown()
			var lines []string
			for _, f := range shown {
				lines = append(lines, f.Error())
			}
			sections = append(sections, s.Heading+"{"+strings.Join(append(lines, below...), "|")+"}")
		}
		if got := strings.Join(sections, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	section := diag.Sections(&diag.Group{Heading: "wrong:", Err: many, Advice: []string{"correct it"}})[0]
	if shown, below := section.Shown(); len(shown) != diag.MaxListed || strings.Join(below, "|") != "and 2 more findings|correct it" {
		t.Errorf("of %d findings, %d are shown above %q", len(many), len(shown), below)
	}
	if all := section.All(); len(all) != len(many)+1 || all[0].Problem != "wrong:" {
		t.Errorf("All() has %d findings, the first is %v", len(all), all[0])
	}
}

// TestJoined renders joined groups for programs, part by part, and for people, as one text in which nothing is left out.
func TestJoined(t *testing.T) {
	t.Parallel()
	place := diag.Place(diag.Position{File: "a.go", Line: 3}, "func f", "was edited")
	if got, want := place.Error()+"|"+place.Message()+"|"+place.Full(), "a.go:3 (func f)|was edited|a.go:3: was edited"; got != want {
		t.Errorf("a place: %q, want %q", got, want)
	}
	many := make(diag.Findings, diag.MaxListed+1)
	for i := range many {
		many[i] = diag.Finding{Position: diag.Position{File: fmt.Sprint(i)}, Listed: "x\ny", Problem: "z", Err: errors.ErrUnsupported}
	}
	list := diag.List("these:", many, "correct them")
	for _, test := range []struct {
		name   string
		err    error
		parts  int // for programs, with the heading
		advice string
		text   string
	}{
		{"a list", list, len(many) + 1, "correct them", "these:\n" + strings.Repeat("  x\n  y\n", len(many)) + "correct them"},
		{"a list of one", fmt.Errorf("%w", diag.List("this:", diag.Findings{place}, "save it")), 2, "save it", "this:\n  a.go:3 (func f)\nsave it"},
		{"advice about a list", diag.Advise(diag.List("this:", diag.Findings{place}, "save it"), "again"), 2, "save it|again", "this:\n  a.go:3 (func f)\nsave it"},
		{"an explained error", diag.Explain(errors.New("plain"), "why"), 1, "why", "plain\nwhy"},
	} {
		all, people := diag.Sections(test.err), diag.Messages(test.err)
		if len(all) != 1 || len(all[0].All()) != test.parts || strings.Join(all[0].Advice, "|") != test.advice {
			t.Errorf("%s: for programs %v", test.name, all)
		}
		if len(people) != 1 || len(people[0].Findings) != 1 || people[0].Heading != "" || people[0].Findings[0].Error() != test.text {
			t.Errorf("%s: for people %v", test.name, people)
		}
	}
	if !errors.Is(list, errors.ErrUnsupported) {
		t.Error("a list does not wrap its causes")
	}
}

// TestGroupIsError finds the causes of groups, and reads their text.
func TestGroupIsError(t *testing.T) {
	t.Parallel()
	value := diag.Finding{Field: "--b", Problem: "is required"}
	err := error(&diag.Group{Heading: "wrong:", Err: errors.Join(diag.Findings{value}, errors.ErrUnsupported), Advice: []string{"correct it"}})
	if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, value) || !diag.IsUsage(err) {
		t.Errorf("%v does not wrap its causes", err)
	}
	if got, want := err.Error(), "wrong:\n--b is required\nunsupported operation\ncorrect it"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	for _, cause := range []error{value, diag.Finding{Position: diag.Position{File: "a"}, Problem: "x", Err: errors.ErrUnsupported}} {
		if err := diag.WithFix(cause, "go"); !errors.Is(err, errors.ErrUnsupported) && !diag.IsUsage(err) {
			t.Errorf("WithFix(%v) does not wrap its cause", cause)
		}
	}
}

// TestCollapse merges findings with the same text, and keeps the place of the first.
func TestCollapse(t *testing.T) {
	t.Parallel()
	at := func(line int, problem string) diag.Finding {
		return diag.Finding{Position: diag.Position{File: "a", Line: line}, Problem: problem, Fix: "go"}
	}
	got := diag.Findings{at(1, "x"), at(2, "y"), at(3, "x"), at(4, "y"), at(5, "x"), at(6, "y"), at(7, "x")}.Collapse().Error()
	if want := "a:1: x (and 3 more); go\na:2: y; go\na:4: y; go\na:6: y; go"; got != want {
		t.Errorf("Collapse() = %q, want %q", got, want)
	}
}
