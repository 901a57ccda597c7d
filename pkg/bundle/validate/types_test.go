package validate_test

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/bundle/validate"
)

// TestUnreadableValues has values that their types do not read: of spec.version, and others, which are not about the version although the
// name of the kind contains that word.
func TestUnreadableValues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ from, to, rule, field, problem string }{
		{"version: 1.2.0", "version: 1.x", "csv-version", "spec.version", `"1.x" is not a semantic version: Invalid character(s) found in minor number`},
		{"metadata:\n", "metadata:\n  creationTimestamp: yesterday\n", "wrong-type", "", `parsing time "yesterday"`},
	} {
		files := good(t)
		edit(t, files, csvFile, test.from, test.to)
		found := check(t, files, validate.Options{}).Findings.WithRule(test.rule)
		if len(found) != 1 || found[0].Field != test.field || !strings.Contains(found[0].Problem, test.problem) {
			t.Errorf("%q: %+v", test.to, found)
		}
	}
}
