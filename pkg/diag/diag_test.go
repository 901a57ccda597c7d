package diag_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
)

func TestPosition(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]diag.Position{
		"":         {},
		"a.yaml":   {File: "a.yaml", Column: 3},
		"a.yaml:2": {File: "a.yaml", Line: 2},
		"a.go:2:3": {File: "a.go", Line: 2, Column: 3},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v: String() = %q, want %q", p, got, want)
		}
	}
}

func TestFindingError(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]diag.Finding{
		"a.yaml:2: is empty; write it":                {Position: diag.Position{File: "a.yaml", Line: 2}, Field: "spec", Problem: "is empty", Fix: "write it"},
		"no module":                                   {Problem: "no module"},
		"--kind is required":                          {Field: "--kind", Problem: "is required"},
		`--kind is required; for example "App"`:       {Field: "--kind", Problem: "is required", Suggestion: "App"},
		`--kind "app": is lower`:                      {Field: "--kind", Value: "app", Problem: "is lower"},
		`--kind "app": is lower; did you mean "App"?`: {Field: "--kind", Value: "app", Problem: "is lower", Suggestion: "App"},
	} {
		if got := f.Error(); got != want {
			t.Errorf("%+v: Error() = %q, want %q", f, got, want)
		}
	}
	if f := (diag.Finding{Problem: "no module", Err: errors.ErrUnsupported}); !errors.Is(f, errors.ErrUnsupported) {
		t.Error("a finding does not wrap its cause")
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	if err := (diag.Findings{}).Err(); err != nil {
		t.Errorf("Err() of no findings = %v, want nil", err)
	}
	at := func(file string, line int, problem string) diag.Finding {
		return diag.Finding{Position: diag.Position{File: file, Line: line}, Problem: problem}
	}
	err := diag.Findings{at("b", 1, "y"), at("a", 10, "x"), at("b", 1, "x"), at("a", 9, "x"), at("b", 1, "y")}.Sort().Err()
	if got, want := err.Error(), "a:9: x\na:10: x\nb:1: x\nb:1: y"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if !errors.Is(err, at("b", 1, "x")) {
		t.Error("Findings do not wrap a finding")
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "", 50: "", 51: "and 1 more finding", 60: "and 10 more findings"} {
		findings := make(diag.Findings, n)
		first, rest := diag.Shorten(findings, "finding")
		if got := strings.Join(rest, "\n"); len(first) != min(n, diag.MaxListed) || got != want {
			t.Errorf("Shorten(%d findings) = %d findings, %q, want %q", n, len(first), got, want)
		}
		if got := findings.Error(); !strings.HasSuffix(got, want) {
			t.Errorf("Error() of %d findings = %q, want suffix %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files"} {
		if got := diag.Count(n, "file"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestIsUsage(t *testing.T) {
	t.Parallel()
	flag := diag.Finding{Field: "--kind", Problem: "is required"}
	inFile := diag.Finding{Position: diag.Position{File: "PROJECT", Line: 1}, Field: "kind", Problem: "is required"}
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.ErrUnsupported, false},
		{flag, true},
		{diag.Findings{flag}, true},
		{inFile, false},
		{diag.Finding{Object: "Deployment web", Field: "spec.replicas", Problem: "changes"}, false},
		{diag.Findings{inFile}, false},
		{diag.Findings{inFile, flag}, true},
		{diag.Findings{{Problem: "no module"}}, false},
		{fmt.Errorf("reading: %w", errors.Join(errors.ErrUnsupported, flag)), true},
	} {
		if got := diag.IsUsage(test.err); got != test.want {
			t.Errorf("IsUsage(%v) = %v, want %v", test.err, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"generate", "init", "create", "version"}
	for word, want := range map[string]string{
		"genreate": "generate", "inti": "init", "Create": "create", "verison": "version", "vers": "", "": "", "bundle": "", "ini": "init",
		strings.Repeat("x", 1000): "",
	} {
		if got, ok := diag.Nearest(word, words); got != want || ok != (want != "") {
			t.Errorf("Nearest(%.20q) = %q, %v, want %q", word, got, ok, want)
		}
	}
	if got, ok := diag.Nearest("x", nil); ok {
		t.Errorf("Nearest(x) without candidates = %q", got)
	}
}
