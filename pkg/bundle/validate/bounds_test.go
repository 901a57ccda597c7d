package validate_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operon-sdk/operon/pkg/bundle/validate"
)

// TestBounds checks that the limits apply to all manifests of a bundle together.
func TestBounds(t *testing.T) {
	t.Parallel()
	files := good(t)
	for i := range 2 {
		text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata:\n", i) + strings.Repeat("- a\n", 100_000)
		files[fmt.Sprintf("manifests/zz%d.yaml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	var found []string
	for _, f := range check(t, files, validate.Options{}).Findings {
		if f.Rule == "too-complex" {
			found = append(found, fmt.Sprint(f.File, " ", f.Problem))
		}
	}
	if len(found) != 1 || !strings.HasSuffix(found[0], "manifests/zz1.yaml contains more than 500000 values together with the files before it") {
		t.Errorf("rules = %q", found)
	}
}
