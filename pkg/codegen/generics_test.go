package codegen

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerics generates code and schemas for instances of generic types and for aliases. The code has to copy everything, and the schemas have
// to match the same types without parameters, written by hand.
func TestGenerics(t *testing.T) {
	t.Parallel()
	skipIfShort(t, "builds and runs what was generated")
	input, want := filepath.Join("testdata", "generics", "input"), filepath.Join("testdata", "generics", "concrete")
	dirs := map[string]string{}
	crds := map[string][]byte{}
	for _, from := range []string{input, want} {
		dir := withKind(t)
		if err := os.Remove(filepath.Join(dir, "api/v1/thing_types.go")); err != nil {
			t.Fatal(err)
		}
		for name, content := range tree(t, from) {
			write(t, dir, strings.TrimSuffix(name, ".txt"), string(content))
		}
		for name, content := range generate(t, Options{Env: os.Environ(), Root: dir}) {
			if strings.HasSuffix(name, ".yaml") {
				crds[from] = append(crds[from], content...)
			}
			write(t, dir, name, string(content))
		}
		dirs[from] = dir
	}
	if string(crds[input]) != string(crds[want]) {
		t.Errorf("the schemas of generic types differ from the schemas of concrete types: %s", firstDifference(crds[input], crds[want]))
	}
	cmd := exec.Command("go", "run", "./internal/checkcopy")
	cmd.Dir = dirs[input]
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, read(t, dirs[input], "api/v1/zz_generated.deepcopy.go"))
	}
}
