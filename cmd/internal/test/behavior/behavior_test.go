//go:build unix

// Package behavior tests that 'test behavior' finds the faults that are put into golden projects, and none in the projects as they are.
package behavior

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// testBehavior runs 'test behavior' and returns the rules and objects of the findings, which must be in the report, too.
func testBehavior(t *testing.T, dir string, code int, timeout string, environ []string, args ...string) (findings []string) {
	t.Helper()
	findings, _ = testBehaviorOutput(t, dir, code, timeout, environ, args...)
	return findings
}

// testBehaviorOutput is testBehavior, and also returns what the command printed.
func testBehaviorOutput(t *testing.T, dir string, code int, timeout string, environ []string, args ...string) (findings []string, output string) {
	t.Helper()
	p := clitest.StartProcess(t, dir, environ, append([]string{"test", "behavior", "-o", "json", "--timeout", timeout, "--report", "report"}, args...)...)
	p.MustEnd(code)
	_, text, found := strings.Cut(p.Output(), "\n{\n")
	var result struct {
		Errors, Warnings []struct{ Rule, Object string }
	}
	if err := json.Unmarshal([]byte("{"+text), &result); err != nil || !found {
		t.Fatalf("%v:\n%s", err, p.Output())
	}
	page := clitest.ReadFile(t, filepath.Join(dir, "report", "index.html"))
	if !strings.Contains(page, "start of the operator") {
		t.Errorf("the report lacks the first step:\n%s", page)
	}
	for _, finding := range slices.Concat(result.Errors, result.Warnings) {
		if finding.Rule == "" {
			continue // the heading
		}
		if !strings.Contains(page, finding.Rule) {
			t.Errorf("the report lacks %s", finding.Rule)
		}
		findings = append(findings, strings.TrimSpace(finding.Rule+" "+finding.Object))
	}
	return findings, p.Output()
}

// copyGolden copies a golden project and returns the environment for its operator.
func copyGolden(t *testing.T, name string) (dir string, environ []string) {
	t.Helper()
	dir = clitest.CopyGolden(t, name+"-operator")
	switch name {
	case "shop", "site": // without code in Go
		program, err := clitest.Runtime()
		if err != nil {
			t.Fatal(err)
		}
		environ = []string{clitest.RuntimeVariable + "=" + program}
	default:
		clitest.SetFreeWebhookPort(t, dir)
	}
	return dir, environ
}

// TestNoFaults finds nothing in the golden projects.
func TestNoFaults(t *testing.T) {
	t.Parallel()
	names := []string{"memcached", "site"}
	if *clitest.Thorough {
		names = append(names, "ssa", "multigroup", "shop")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, environ := copyGolden(t, name)
			if got := testBehavior(t, dir, 0, "2m", environ); len(got) > 0 {
				t.Errorf("findings %q", got)
			}
		})
	}
}
