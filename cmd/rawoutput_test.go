package cmd_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// rawOutput matches uses of the streams of the process.
var rawOutput = regexp.MustCompile(`\b[aepr]\.(Out|Err)\b`)

// TestRawOutput checks that commands print through output.Printer, except where nothing of a project is printed, where data
// must be exact, and where a program prints that the user runs.
func TestRawOutput(t *testing.T) {
	t.Parallel()
	allowed := map[string]int{
		"completion.go":              6, // scripts
		"env.go":                     3, // the prompter escapes
		"generate_bundle.go":         1, // manifests
		"internal/images/target.go":  2, // a progress bar
		"internal/output/printer.go": 7, // the writers, the colored word "error:", and annotations, which are escaped
		"internal/output/value.go":   1, // manifests
		"internal/output/wait.go":    3, // a line that is replaced
		"internal/output/wrap.go":    2, // the width of terminals
		"old.go":                     1, // go.mod
		"old_run.go":                 2, // go test
		"operator_program.go":        2, // the log of an operator in its pod
		"root.go":                    3, // help
		"run_local.go":               1, // the log of the manager, which the LogWriter escapes or prefixes
		"scorecard_program.go":       1, // JSON for scorecard
		"test_suite.go":              1, // the log of an API server
		"tool.go":                    3, // results of tools
		"tool_kubectl.go":            2, // kubectl
		"version.go":                 2, // versions
	}
	clitest.WalkTree(t, ".", func(p string, d fs.DirEntry) {
		if d.IsDir() || strings.HasPrefix(p, "internal/clitest/") || strings.HasPrefix(p, "internal/test/") || strings.HasPrefix(p, "operon-runtime/") || filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") {
			return
		}
		if uses := len(rawOutput.FindAllString(clitest.ReadFile(t, p), -1)); uses != allowed[p] {
			t.Errorf("%s uses a.Out and a.Err %d times, %d expected; print with a.print", p, uses, allowed[p])
		}
	})
}
