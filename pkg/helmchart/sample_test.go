package helmchart

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

const sampleCases = "testdata/sample/*.txtar"

// samples returns the sample of a chart, and the one with all values.
func samples(t *testing.T, chart Files) (short, full []byte) {
	t.Helper()
	spec := SampleSpec{
		APIVersion: "cache.example.com/v1alpha1", Kind: "Memcached", Chart: chart,
		Labels: map[string]string{"app.kubernetes.io/name": "memcached-operator"},
	}
	short, err := Sample(spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Full = true
	full, err = Sample(spec)
	if err != nil {
		t.Fatal(err)
	}
	return short, full
}

// specOf returns the spec of a manifest.
func specOf(t *testing.T, manifest string) map[string]any {
	t.Helper()
	var object struct {
		Kind string
		Spec map[string]any
	}
	if err := safeyaml.UnmarshalJSON([]byte(manifest), &object); err != nil {
		t.Fatalf("%v\n%s", err, manifest)
	}
	if object.Kind != "Memcached" || object.Spec == nil {
		t.Fatalf("the manifest has no kind or spec:\n%s", manifest)
	}
	return object.Spec
}

// commentedValue matches the mark of a value that is a comment of the sample.
var commentedValue = regexp.MustCompile(`(?m)^  # `)

// uncomment removes the marks of comments in a sample, for lines from first up to end.
func uncomment(sample []byte, first, end int) string {
	lines := strings.Split(strings.Replace(string(sample), "\nspec: {}\n", "\nspec:\n", 1), "\n")
	for i := range lines {
		if i >= first && i < end {
			lines[i] = commentedValue.ReplaceAllString(lines[i], "  ")
		}
	}
	return strings.Join(lines, "\n")
}

// TestSamples compares samples with the expected ones, and the values in them with the chart's.
func TestSamples(t *testing.T) {
	t.Parallel()
	archives(t, sampleCases, func(t *testing.T, name string, archive *txtar.Archive) {
		chart, _ := chartOf(archive)
		short, full := samples(t, chart)
		expect(t, name, archive, "want/short.yaml", short)
		expect(t, name, archive, "want/full.yaml", full)
		if *update {
			check(t, os.WriteFile(name, txtar.Format(archive), 0o644))
		}
		checkSamples(t, chart)
		chart["values.yaml"] = append([]byte("\ufeff"), bytes.ReplaceAll(chart["values.yaml"], []byte("\n"), []byte("\r\n"))...)
		windows, windowsFull := samples(t, chart)
		if !bytes.Equal(windows, short) || !bytes.Equal(windowsFull, full) {
			t.Errorf("with CRLF: got\n%s\nwant\n%s", windowsFull, full)
		}
	})
}

// checkSamples compares the values of samples with the chart's: all of them, all uncommented, and each key at the top
// uncommented.
func checkSamples(t *testing.T, chart Files) {
	t.Helper()
	short, full := samples(t, chart)
	required := specOf(t, string(short))
	tree, err := readTree(chart)
	if err != nil {
		t.Fatal(err)
	}
	if len(required) != len(tree.describe(inference{}, tree.values).examples(tree.values)) {
		t.Errorf("the sample sets %v", required)
	}
	values := plainValues(t, chart)
	mergeMaps(values, required)
	for what, manifest := range map[string]string{"all values": string(full), "uncommented": uncomment(short, 0, len(short))} {
		if len(values) == 0 {
			continue
		}
		if got := specOf(t, manifest); !reflect.DeepEqual(got, values) {
			t.Errorf("%s: got\n%v\nwant\n%v", what, got, values)
		}
	}
	lines := strings.Split(string(short), "\n")
	var starts []int
	for i, line := range lines {
		if key := regexp.MustCompile(`^  # ([^\s#?:'" -][^\s#]*):( |$)`).FindStringSubmatch(line); key != nil {
			starts = append(starts, i)
		}
	}
	for i, start := range starts {
		end := len(lines)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		for name, got := range specOf(t, uncomment(short, start, end)) {
			if _, isSet := required[name]; !isSet && !reflect.DeepEqual(got, values[name]) {
				t.Errorf("with key %s uncommented: got %v, want %v", name, got, values[name])
			}
		}
	}
}

// plainValues returns the default values of a chart.
func plainValues(t *testing.T, chart Files) map[string]any {
	t.Helper()
	values := map[string]any{}
	for _, document := range documentMark.Split(string(chart["values.yaml"]), -1) {
		if next := decodeValues(t, []byte(document)); len(next) > 0 {
			values, _ = mergeMaps(values, next).(map[string]any)
		}
	}
	return values
}

func mergeMaps(below, above any) any {
	b, ok := below.(map[string]any)
	a, same := above.(map[string]any)
	if !ok || !same {
		return above
	}
	for name, value := range a {
		b[name] = mergeMaps(b[name], value)
	}
	return b
}

// TestSampleServed creates the samples of the schema cases on an API server.
func TestSampleServed(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	archives(t, sampleCases, func(t *testing.T, _ string, archive *txtar.Archive) {
		chart, _ := chartOf(archive)
		kind := server.serve(t, chart)
		short, full := samples(t, chart)
		for _, manifest := range [][]byte{short, full} {
			if _, problem := kind.create(t, specOf(t, string(manifest))); problem != "" {
				t.Errorf("%s\n%s", problem, manifest)
			}
		}
	})
}
