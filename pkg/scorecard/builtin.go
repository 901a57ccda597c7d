package scorecard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	apimanifests "github.com/operator-framework/api/pkg/manifests"
	apivalidation "github.com/operator-framework/api/pkg/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/bundle"
)

// Program is the name of the program in images of the built-in tests, the first word of their entry points.
const Program = "scorecard-test"

// A Bundle is the tested bundle: its files, and its name in messages.
type Bundle struct {
	FS   fs.FS
	Name string
}

// check is a built-in test. run changes a result whose state is pass.
type check struct {
	name string
	run  func(Bundle, *apimanifests.Bundle, *v1alpha3.TestResult)
}

func checks() []check {
	return []check{
		{"olm-bundle-validation", checkBundle},
		{"olm-crds-have-validation", checkSchemas},
		{"olm-crds-have-resources", checkResources},
		{"olm-spec-descriptors", checkSpecDescriptors},
		{"olm-status-descriptors", checkStatusDescriptors},
		{"basic-check-spec", checkSpec},
	}
}

// BuiltIns returns the names of the built-in tests.
func BuiltIns() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// isBuiltIn reports whether a test is built in: its entry point is Program.
func isBuiltIn(test v1alpha3.TestConfiguration) bool {
	return len(test.Entrypoint) > 0 && path.Base(test.Entrypoint[0]) == Program
}

// Local runs built-in tests in this process.
type Local struct{ Bundle Bundle }

// RunTest runs a built-in test.
func (l Local) RunTest(_ context.Context, test v1alpha3.TestConfiguration) v1alpha3.TestStatus {
	name := ""
	if len(test.Entrypoint) > 1 {
		name = test.Entrypoint[1]
	}
	return BuiltIn(l.Bundle, name)
}

// BuiltIn runs a built-in test. An unknown name is a failed test.
func BuiltIn(b Bundle, name string) v1alpha3.TestStatus {
	for _, c := range checks() {
		if c.name == name {
			return v1alpha3.TestStatus{Results: []v1alpha3.TestResult{c.result(read(b))}}
		}
	}
	result := v1alpha3.TestResult{State: v1alpha3.PassState}
	fail(&result, "Valid tests for this image include: %s", strings.Join(BuiltIns(), ", "))
	return v1alpha3.TestStatus{Results: []v1alpha3.TestResult{result}}
}

// loaded is a bundle with the results of load.
type loaded struct {
	Bundle
	content *apimanifests.Bundle
	skipped []string
	err     error
}

func read(b Bundle) loaded {
	l := loaded{Bundle: b}
	l.content, l.skipped, l.err = load(b, ".")
	return l
}

// result runs the test on a bundle.
func (c check) result(l loaded) v1alpha3.TestResult {
	result := v1alpha3.TestResult{Name: c.name, State: v1alpha3.PassState}
	if l.err == nil {
		c.run(l.Bundle, l.content, &result)
		return result
	}
	fail(&result, "%s", l.err)
	for _, line := range l.skipped {
		logf(&result, "%s\n", line)
	}
	return result
}

func fail(r *v1alpha3.TestResult, format string, args ...any) {
	r.State = v1alpha3.FailState
	r.Errors = append(r.Errors, fmt.Sprintf(format, args...))
}

func suggest(r *v1alpha3.TestResult, format string, args ...any) {
	r.Suggestions = append(r.Suggestions, fmt.Sprintf(format, args...))
}

func logf(r *v1alpha3.TestResult, format string, args ...any) {
	r.Log += fmt.Sprintf(format, args...)
}

// examples returns the custom resources of the annotation alm-examples.
func examples(b *apimanifests.Bundle) (list []unstructured.Unstructured, err error) {
	text := b.CSV.GetAnnotations()["alm-examples"]
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("failed to parse alm-examples annotation: %w", err)
	}
	return list, nil
}

// part returns the spec or status of a custom resource; nil if it has none. It must be a mapping.
func part(cr unstructured.Unstructured, name string) (map[string]any, error) {
	if cr.Object[name] == nil {
		return nil, nil
	}
	fields, ok := cr.Object[name].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the %s of %s %s in alm-examples must be a mapping", name, cr.GetKind(), cr.GetName())
	}
	if fields == nil {
		return map[string]any{}, nil
	}
	return fields, nil
}

// checkBundle runs the validators for all bundles.
func checkBundle(b Bundle, _ *apimanifests.Bundle, r *v1alpha3.TestResult) {
	format := &formatCheck{Bundle: b}
	if err := format.run(); err != nil {
		fail(r, "%s", err)
	}
	r.Log = format.log.String()
	dir := manifestsDir
	annotations, err := findAnnotations(b.FS)
	if err != nil && !errors.Is(err, errNoMetadata) {
		fail(r, "%s", err)
		return
	}
	if named, ok := annotations[bundle.ManifestsLabel]; ok {
		dir = path.Clean(named)
	}
	if !fs.ValidPath(dir) {
		fail(r, "annotation %q: %q must be a directory of the bundle", bundle.ManifestsLabel, annotations[bundle.ManifestsLabel])
		return
	}
	content, _, err := load(b, dir)
	if err != nil {
		fail(r, "%s", err)
		return
	}
	objects := []any{content, content.CSV}
	for _, crd := range content.V1CRDs {
		objects = append(objects, crd)
	}
	for _, crd := range content.V1beta1CRDs {
		objects = append(objects, crd)
	}
	// Some messages contain pointers, which differ between runs.
	address := regexp.MustCompile(`\b0x[0-9a-f]{6,}\b`)
	for _, result := range apivalidation.DefaultBundleValidators.Validate(objects...) {
		for _, err := range result.Errors {
			fail(r, "%s", address.ReplaceAllString(err.Error(), "<addr>"))
		}
		for _, warning := range result.Warnings {
			suggest(r, "%s", address.ReplaceAllString(warning.Error(), "<addr>"))
		}
	}
}
