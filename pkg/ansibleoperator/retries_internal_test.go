package ansibleoperator

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestCountFailure counts failed runs of a generation, whether the schema of the kind keeps the number or another process wrote it.
func TestCountFailure(t *testing.T) {
	t.Parallel()
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetUID("a")
	written := func(generation, count int64) *unstructured.Unstructured {
		with := obj.DeepCopy()
		with.Object["status"] = map[string]any{statusFailedRuns: map[string]any{"generation": generation, "count": count}}
		return with
	}
	var p passes
	for i, test := range []struct {
		obj        *unstructured.Unstructured
		generation int64
		want       int64
	}{
		{obj, 1, 1}, {obj, 1, 2}, {written(1, 7), 1, 8}, {obj, 1, 9}, {written(1, 9), 2, 1}, {obj, 2, 2},
	} {
		if got := p.countFailure(test.obj, test.generation); got != (failedRuns{test.generation, test.want}) {
			t.Errorf("%d: got %+v", i, got)
		}
	}
	p.succeeded(obj)
	if got := p.countFailure(obj, 2); got.count != 1 {
		t.Errorf("after a success: got %+v", got)
	}
}
