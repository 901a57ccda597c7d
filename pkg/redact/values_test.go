package redact_test

import (
	"reflect"
	"testing"

	"github.com/operon-sdk/operon/pkg/redact"
)

func TestWithoutSecrets(t *testing.T) {
	t.Parallel()
	got := redact.WithoutSecrets(map[string]any{"db": map[string]any{"password": "x", "host": "h"}, "list": []any{map[string]any{"apiToken": 1, "a": 2}, "b"}, "none": nil})
	want := map[string]any{"db": map[string]any{"host": "h"}, "list": []any{map[string]any{"a": 2}, "b"}, "none": nil}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}
