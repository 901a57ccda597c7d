package output

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/buildinfo"
	"github.com/operon-sdk/operon/pkg/report"
)

// TestJSONFieldsDocumented checks that docs/ci.md describes all fields of the output of -o json.
func TestJSONFieldsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	for prefixes, value := range map[string]any{"": result{}, "changes[].": change{}, "warnings[]. errors[].": report.Entry{}, " ": buildinfo.Info{}} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(value)) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" {
				continue
			}
			for _, prefix := range strings.Split(strings.TrimSpace(prefixes), " ") {
				if !strings.Contains(string(page), "`"+prefix+name+"`") {
					t.Errorf("docs/ci.md does not describe the field %s%s", prefix, name)
				}
			}
		}
	}
}
