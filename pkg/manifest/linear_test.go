package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// TestDecodeIsLinear checks that twice as many objects take twice the work, as documents and as a list.
func TestDecodeIsLinear(t *testing.T) {
	for name, form := range map[string]struct{ head, item string }{
		"documents": {"", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n"},
		"list":      {"apiVersion: v1\nkind: List\nitems:\n", "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c%d}\n"},
	} {
		work := func(n int) float64 {
			var b strings.Builder
			b.WriteString(form.head)
			for i := range n {
				fmt.Fprintf(&b, form.item, i)
			}
			stream := []byte(b.String())
			return testing.AllocsPerRun(1, func() {
				if objects, problems := manifest.Decode("in", stream); len(objects) != n || len(problems) > 0 {
					t.Errorf("%s: %d objects, %v", name, len(objects), problems)
				}
			})
		}
		if half, full := work(200), work(400); full > 2.5*half {
			t.Errorf("%s: %v allocations for 200 objects, %v for 400", name, half, full)
		}
	}
}
