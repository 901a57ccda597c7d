package source

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestNewFields compares fields.txt with the test data of k8s.io/api, which has an object with all fields for each kind of the newest
// version of Kubernetes and of those before it.
func TestNewFields(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(strings.TrimSpace(string(out)), "testdata")
	newest := minorOf(kubernetesVersion)
	seen := map[int]*seenFields{newest: readSeenFields(t, filepath.Join(data, "HEAD"))}
	oldest := newest
	for ; ; oldest-- {
		dir := filepath.Join(data, fmt.Sprintf("v1.%d.0", oldest-1))
		if _, err := os.Stat(dir); err != nil {
			break
		}
		seen[oldest-1] = readSeenFields(t, dir)
	}
	if oldest != oldestFields {
		t.Errorf("the test data starts with Kubernetes 1.%d, but oldestFields is %d", oldest, oldestFields)
	}
	var lines []string
	for _, field := range sortedKeys(seen[newest].present) {
		for minor := newest - 1; minor >= oldest; minor-- {
			before := seen[minor]
			if owner := field[:strings.LastIndex(field, ".")]; before.types[owner] && !before.present[field] {
				lines = append(lines, fmt.Sprintf("%d %s\n", minor+1, field))
				break
			}
		}
	}
	slices.Sort(lines)
	want := strings.Join(lines, "")
	if *update {
		if err := os.WriteFile("fields.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if newFields != want {
		t.Errorf("fields.txt is out of date; run this test with -update\n%s", want)
	}
}

// seenFields are the fields in the objects of a version, and the types that they have.
type seenFields struct{ types, present map[string]bool }

func readSeenFields(t *testing.T, dir string) *seenFields {
	t.Helper()
	seen := &seenFields{map[string]bool{}, map[string]bool{}}
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatal("no test data", err)
	}
	kinds := knownKinds()
	for _, name := range names {
		if strings.Contains(name, "after_roundtrip") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		apiVersion, _ := object["apiVersion"].(string)
		kind, _ := object["kind"].(string)
		gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
		if typed, err := kinds.New(gvk); err == nil {
			seen.add(object, reflect.TypeOf(typed))
		}
	}
	return seen
}

func (s *seenFields) add(value any, kind reflect.Type) {
	for kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			if kind.Kind() == reflect.Slice {
				s.add(element, kind.Elem())
			}
		}
	case map[string]any:
		if kind.Kind() == reflect.Map {
			for _, element := range value {
				s.add(element, kind.Elem())
			}
		}
		if kind.Kind() != reflect.Struct || reflect.PointerTo(kind).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return
		}
		for key, field := range jsonFields(kind) {
			owner := field.name[:strings.LastIndex(field.name, ".")]
			s.types[owner] = true
			if inner, ok := value[key]; ok {
				s.present[field.name] = true
				s.add(inner, field.kind)
			}
		}
	}
}

// TestFields checks problems of fields in objects of a version.
func TestFields(t *testing.T) {
	t.Parallel()
	deployment := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	for _, test := range []struct {
		object string
		minor  int
		want   []string
	}{
		{`{"metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"spec":{"containers":[{"name":"a","image":"b","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":1,"memory":"64Mi"}}}]}}}}`, 37, nil},
		{`{"spec":{"replica":1}}`, 37, []string{"spec.replica is not a field of DeploymentSpec; did you mean replicas?"}},
		{`{"spec":{"replicas":"1"}}`, 37, []string{`spec.replicas must be an integer of 32 bits, not a string`}},
		{`{"spec":{"replicas":3000000000}}`, 37, []string{`spec.replicas must be an integer of 32 bits`}},
		{`{"spec":{"paused":"yes","selector":[]}}`, 37, []string{`spec.paused must be true or false, not a string`, "spec.selector must be a mapping, not a list"}},
		{`{"spec":{"template":{"spec":{"schedulingGroup":{},"containers":[{"volumeMounts":[{"bindMountOptions":[]}]}]}}}}`, 35, []string{
			"spec.template.spec.containers[0].volumeMounts[0].bindMountOptions needs Kubernetes 1.37 or later",
			"spec.template.spec.schedulingGroup needs Kubernetes 1.36 or later",
		}},
		{`{"metadata":{"labels":{"a":1}}}`, 37, []string{"metadata.labels[a] must be a string, not a number"}},
		{`{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"a lot"}}}]}}}}`, 37, []string{`spec.template.spec.containers[0].resources.limits[cpu] has an invalid value: "a lot"`}},
	} {
		var object map[string]any
		if err := decodeExact([]byte(test.object), &object); err != nil {
			t.Fatal(err)
		}
		object["apiVersion"], object["kind"] = "apps/v1", "Deployment"
		typed, err := knownKinds().New(deployment)
		if err != nil {
			t.Fatal(err)
		}
		c := &fieldChecker{added: addedFields(), minor: test.minor}
		c.check("", object, reflect.TypeOf(typed))
		var got []string
		for _, p := range c.problems {
			text := p.path + " " + p.problem
			if p.fix != "" {
				text += "; " + p.fix
			}
			got = append(got, text)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.object, got, test.want)
		}
	}
}
