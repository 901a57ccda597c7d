package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// interview runs an interview about a fruit line by line, and returns the flags and what was printed.
func interview(typed string, review bool) (flags, printed string, err error) {
	var out bytes.Buffer
	v := Interview{
		Prompter: New(Terminal{In: strings.NewReader(typed), Err: &out}), Review: review, Out: &out, Width: 80, Command: []string{"eat"},
		Steps: func(answers Answers) []Step {
			steps := []Step{{Name: "kind", Decides: true, Question: Question{Text: "Kind?", Options: []Option{
				{Value: "apple", Text: "an apple", Flags: []string{}}, {Value: "other", Text: "another fruit", Flags: []string{"--other"}},
			}}}}
			if answers["kind"] == "" {
				return steps
			}
			if answers["kind"] == "other" {
				steps = append(steps, Step{Name: "name", Question: Question{Text: "Name", Options: []Option{{Value: "kiwi"}}, Other: "another"}})
			}
			return append(steps, Step{Name: "size", Fixed: "big"}, Step{Name: "color", Value: strings.ToUpper, Question: Question{Text: "Color", Default: "red"}},
				Step{Name: "note", Question: Question{Text: "Note"}})
		},
	}
	_, err = v.Run()
	return fmt.Sprint(v.Flags()), out.String(), err
}

// TestInterview checks the questions and the flags of answers, also after the user has changed some.
func TestInterview(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		typed, flags string
		printed      []string
		err          error
	}{
		{"\n\n\nyes\n", "[--size big --color RED]", []string{"  1) an apple\n  2) another fruit\nKind? (1 to 2, default: 1):\n2 questions follow.", "[1 of 2] Color (default: red):", "  eat --size big --color RED\n"}, nil},
		{"2\n1\ngreen\nsweet\n1\n", "[--other --name kiwi --size big --color GREEN --note sweet]", []string{"3 questions follow.", "[1 of 3] Name (1 to 2, default: 1)"}, nil},
		{"another fruit\nanother\nplum\n\n\n\n", "[--other --name plum --size big --color RED]", nil, nil},
		{"3\n1\n\n\n1\n", "[--size big --color RED]", []string{`"3": must be a number from 1 to 2`}, nil},
		{"\ngreen\n\n2\n2\n\n1\n", "[--size big --color GREEN]", []string{"  2) Color: green\n", "\nColor (default: green):"}, nil},
		{"\ngreen\n\n2\n1\n2\nkiwi\n1\n", "[--other --name kiwi --size big --color GREEN]", []string{"Kind: an apple"}, nil},
		{"\n\n\nNo, write nothing\n", "[--size big --color RED]", nil, ErrCanceled},
		{"\ngreen\n", "[--size big --color GREEN]", nil, ErrNoAnswer},
	} {
		flags, printed, err := interview(test.typed, true)
		if flags != test.flags || !errors.Is(err, test.err) {
			t.Errorf("%q: %s, %v\n%s", test.typed, flags, err, printed)
		}
		for _, want := range test.printed {
			if !strings.Contains(printed, want) {
				t.Errorf("%q: no %q in\n%s", test.typed, want, printed)
			}
		}
	}
	if flags, printed, err := interview("\n\n\n", false); err != nil || flags != "[--size big --color RED]" || strings.Contains(printed, "follow") || strings.Contains(printed, " of ") {
		t.Errorf("without a review: %s, %v\n%s", flags, err, printed)
	}
}
