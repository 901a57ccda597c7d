package codegen

import (
	"os"
	"strings"
	"testing"
)

// TestTypesWithTheirOwnSchema generates fields of named slices whose values are strings in JSON.
func TestTypesWithTheirOwnSchema(t *testing.T) {
	t.Parallel()
	dir := withKind(t)
	const file = "api/v1/thing_types.go"
	edit(t, dir, file, "import ", "import (\n\t\"encoding/json\"\n\t\"net\"\n)\n\nimport ")
	edit(t, dir, file, "// +kubebuilder:validation:Minimum=1", "// Values of the types.")
	edit(t, dir, file, "Size int `json:\"size\"`", "Address net.IP `json:\"address\"`\n\tAddresses []net.IP `json:\"addresses\"`\n\tRaw json.RawMessage `json:\"raw\"`\n")
	files := generate(t, Options{Env: os.Environ(), Root: dir})
	for name, text := range files {
		if !strings.HasPrefix(name, "config/crd/bases/") {
			continue
		}
		got := strings.Join(strings.Fields(string(text)), " ")
		for _, want := range []string{"address: description: Values of the types. type: string", "addresses: items: type: string type: array", "format: byte type: string required:"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text)
			}
		}
		return
	}
	t.Errorf("no CRD among %d files", len(files))
}
