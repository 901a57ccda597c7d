package kube

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestRejectedField checks which field an error names. The messages of server-side apply are from a kube-apiserver 1.36.
func TestRejectedField(t *testing.T) {
	t.Parallel()
	kind := schema.GroupKind{Group: "cache.example.com", Kind: "Memcached"}
	for want, err := range map[string]error{
		"":                 errors.New("connection refused"),
		"spec.size":        apierrors.NewInvalid(kind, "a", field.ErrorList{field.Required(field.NewPath("spec", "size"), "")}),
		"spec.sise":        apierrors.NewInternalError(errors.New("failed to create typed patch object (default/a; cache.example.com/v1, Kind=Memcached): .spec.sise: field not declared in schema")),
		"spec.pods[0].nme": apierrors.NewInternalError(errors.New("failed to create typed patch object (default/a; cache.example.com/v1, Kind=Memcached): errors:\n  .spec.pods[0].nme: field not declared in schema\n  .spec.x: field not declared in schema")),
	} {
		if got := RejectedField(err); got != want {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	}
}
