package bundle_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestGenerateIsLinear checks that the work grows linearly with the CRDs, samples and manifests.
func TestGenerateIsLinear(t *testing.T) {
	work := func(n int) float64 {
		var b strings.Builder
		b.WriteString(operator("  - {port: 443, targetPort: serve}", "", "", "", ""))
		for i := range n {
			fmt.Fprintf(&b, `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things%[1]d.example.com}
spec:
  group: example.com
  names: {kind: Thing%[1]d, plural: things%[1]d}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: example.com/v1
kind: Thing%[1]d
metadata: {name: sample}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c%[1]d}
`, i)
		}
		stream := b.String()
		return testing.AllocsPerRun(1, func() {
			if made, err := generate(t, stream); err != nil || len(made.Order) != 2*n {
				t.Fatal(err)
			}
		})
	}
	if half, full := work(60), work(120); full > 2.5*half {
		t.Errorf("%v allocations for 60 CRDs, %v for 120", half, full)
	}
}
