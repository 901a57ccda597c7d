package bundle

import (
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestGoldenBundlesAreValid checks that bundles of golden projects are valid with every optional suite, and with warnings
// treated as errors.
func TestGoldenBundlesAreValid(t *testing.T) {
	t.Parallel()
	for _, name := range clitest.GoldenProjects(t) {
		for _, selector := range []string{"", "suite=operatorframework", "name=good-practices", "name=community", "name=alpha-deprecated-apis"} {
			code, out, errOut := runIn(t, clitest.Testdata(name), nil, "bundle", "validate", "bundle", "--strict", "--select-optional", selector)
			if code != 0 {
				t.Errorf("%s, %q: exit code %d\n%s%s", name, selector, code, out, errOut)
			}
		}
	}
}
