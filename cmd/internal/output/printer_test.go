package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/diag"
)

// TestForeignText prints messages with names that contain escape sequences, lines and workflow commands.
func TestForeignText(t *testing.T) {
	t.Parallel()
	hostile := "x\x1b[2J\n::error::owned\n \t::add-mask::y ##[warning]z\u202e"
	for actions, want := range map[string]string{
		"":     "found x\\x1b[2J\n  ::error::owned\n   \t::add-mask::y ##[warning]z\\u202e\n",
		"true": "found x\\x1b[2J\n  %3A%3Aerror::owned\n   \t%3A%3Aadd-mask::y ##%5Bwarning]z\\u202e\n",
	} {
		var errOut bytes.Buffer
		p := &Printer{Env: &env.Env{Err: &errOut, Environ: []string{"GITHUB_ACTIONS=" + actions}}}
		p.Progressf("found %s", hostile)
		if got := errOut.String(); got != want {
			t.Errorf("GITHUB_ACTIONS=%s: %q, want %q", actions, got, want)
		}
	}
	var errOut bytes.Buffer
	p := &Printer{Env: &env.Env{Err: &errOut, Environ: []string{"GITHUB_ACTIONS=true"}}}
	p.Warn(diag.Finding{Problem: hostile})
	want := "::warning::x\\x1b[2J%0A::error::owned%0A \t::add-mask::y ##[warning]z\\u202e\n"
	if got := errOut.String(); got != want {
		t.Errorf("an annotation is %q, want %q", got, want)
	}
	var out bytes.Buffer
	p = &Printer{Env: &env.Env{Out: &out, Environ: []string{"GITHUB_ACTIONS=true"}}, Format: JSON}
	fmt.Fprint(p.As(JSON), "{\n  \"a\": \"\u202e##[x]\u009b\"\n}\n")
	if got, want := out.String(), "{\n  \"a\": \"\\u202e#\\u0023[x]\\u009b\"\n}\n"; got != want {
		t.Errorf("JSON is %q, want %q", got, want)
	}
}

// FuzzErrors prints errors that contain a text, and checks that each line is Operon's own: it begins as Operon's messages begin or is
// indented, and contains nothing that acts on a terminal or on a job of GitHub Actions.
func FuzzErrors(f *testing.F) {
	f.Add("a\n::error::x")
	f.Add("\r\nerror: y\x1b[31m\u202e")
	f.Add("x: \n\n##[group]\xff\n\t:: ::")
	f.Fuzz(func(t *testing.T, text string) {
		at := diag.Finding{Position: diag.Position{File: text, Line: 1}, Problem: text, Fix: text}
		value := diag.Finding{Field: text, Value: text, Problem: text, Suggestion: text}
		for _, err := range []error{
			at, value, diag.Findings{at}, diag.Findings{at, value}, errors.New("x" + text), fmt.Errorf("reading %s: %w", text, at),
			errors.Join(at, errors.New("x"+text)), &diag.Group{Heading: "2 problems of " + text + ":", Err: diag.Findings{at, value}},
			diag.Finding{Object: text, Problem: text, Fix: text, Related: diag.Findings{at, value}}, diag.WithFix(errors.New("x"+text), text),
			diag.Findings{{Position: at.Position, Object: text, Field: text, Problem: text, Rule: "rule", Fix: text, Long: true}},
			&fs.PathError{Op: "open", Path: text, Err: fs.ErrNotExist},
		} {
			var errOut bytes.Buffer
			p := &Printer{Env: &env.Env{FS: afero.NewMemMapFs(), Dir: "/", Err: &errOut}}
			p.Error(err)
			checkLines(t, errOut.String(), regexp.MustCompile(`^(error:|  |$)`))
			errOut.Reset()
			p.Environ = []string{"GITHUB_ACTIONS=true"}
			p.Error(err)
			checkLines(t, errOut.String(), regexp.MustCompile(`^(::error::|::error .*::|\s*([^:\s]|:[^:]|:$)|\s*$)`))
		}
	})
}

func checkLines(t *testing.T, text string, allowed *regexp.Regexp) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if !allowed.MatchString(line) {
			t.Errorf("%q has the line %q", text, line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Errorf("%q contains control characters", line)
		}
	}
}

// TestOneWriter expects os/exec to be able to recognize one writer for both streams of a program, which it otherwise writes to at the same
// time.
func TestOneWriter(t *testing.T) {
	t.Parallel()
	p := &Printer{Env: &env.Env{Err: &bytes.Buffer{}}}
	if !reflect.TypeOf(p.Text()).Comparable() {
		t.Error("the writer cannot be compared")
	}
}
