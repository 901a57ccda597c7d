package cmd

import (
	"bytes"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
)

// TestForeignText prints messages with names that contain escape sequences, lines and workflow commands.
func TestForeignText(t *testing.T) {
	t.Parallel()
	hostile := "x\x1b[2J\n::error::owned\n \t::add-mask::y ##[warning]z\u202e"
	for actions, want := range map[string]string{
		"":     "found x\\x1b[2J\n::error::owned\n \t::add-mask::y ##[warning]z\\u202e\n",
		"true": "found x\\x1b[2J\n%3A%3Aerror::owned\n \t%3A%3Aadd-mask::y ##%5Bwarning]z\\u202e\n",
	} {
		var errOut bytes.Buffer
		a := &app{Env: &Env{Err: &errOut, Out: &errOut, Environ: []string{"GITHUB_ACTIONS=" + actions}}, result: &result{}}
		a.progressf("found %s", hostile)
		if got := errOut.String(); got != want {
			t.Errorf("GITHUB_ACTIONS=%s: %q, want %q", actions, got, want)
		}
	}
	var errOut bytes.Buffer
	a := &app{Env: &Env{Err: &errOut, Environ: []string{"GITHUB_ACTIONS=true"}}, result: &result{}}
	a.warn(diag.Finding{Problem: hostile})
	want := "::warning::x\\x1b[2J%0A  ::error::owned%0A   \t::add-mask::y ##[warning]z\\u202e\n"
	if got := errOut.String(); got != want {
		t.Errorf("an annotation is %q, want %q", got, want)
	}
}
