package helmoperator

import (
	"reflect"
	"strings"
	"testing"
)

func TestExpandOverrideValues(t *testing.T) {
	t.Parallel()
	environ := func(name string) string {
		return map[string]string{"IMAGE": "registry.example/app:1", "NO_PROXY": ".svc,10.0.0.0/8"}[name]
	}
	got, err := ExpandOverrideValues(map[string]string{
		"image": "$IMAGE", "braces": "${IMAGE}-x", "unset": "a${MISSING}b", "template": `{{ "${IMAGE}" | upper }}`,
		"env": `{{ env "IMAGE" }}`, "proxy": "$NO_PROXY",
	}, environ)
	want := map[string]string{
		"image": "registry.example/app:1", "braces": "registry.example/app:1-x", "unset": "ab", "template": "REGISTRY.EXAMPLE/APP:1",
		"env": "registry.example/app:1", "proxy": ".svc,10.0.0.0/8",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
	_, err = ExpandOverrideValues(map[string]string{"a": "{{ fail `no` }}", "b": "{{", "c": "ok"}, environ)
	if err == nil || !strings.Contains(err.Error(), "override value a: ") || !strings.Contains(err.Error(), "override value b: ") {
		t.Errorf("got %v, want errors of a and b", err)
	}
}

func TestSetOverrides(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		overrides map[string]string
		want      map[string]any
	}{
		"strings":      {map[string]string{"a": "true", "b.c": "3"}, map[string]any{"a": "true", "b": map[string]any{"c": "3", "d": int64(1)}}},
		"list":         {map[string]string{"a": "{x,y}"}, map[string]any{"a": []any{"x", "y"}, "b": map[string]any{"d": int64(1)}}},
		"commas":       {map[string]string{"a": ".svc,10.0.0.0/8,,x"}, map[string]any{"a": ".svc,10.0.0.0/8,,x", "b": map[string]any{"d": int64(1)}}},
		"escaped":      {map[string]string{"a": `x\,y`}, map[string]any{"a": "x,y", "b": map[string]any{"d": int64(1)}}},
		"assignments":  {map[string]string{"a": "1,e=2"}, map[string]any{"a": "1", "e": "2", "b": map[string]any{"d": int64(1)}}},
		"dots in keys": {map[string]string{`a\.b`: "1"}, map[string]any{"a.b": "1", "b": map[string]any{"d": int64(1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := map[string]any{"b": map[string]any{"d": int64(1)}}
			if err := setOverrides(values, test.overrides); err != nil || !reflect.DeepEqual(values, test.want) {
				t.Errorf("got %v (%v), want %v", values, err, test.want)
			}
		})
	}
	if err := setOverrides(map[string]any{}, map[string]string{"a[x]": "1"}); err == nil || !strings.Contains(err.Error(), "override value a[x]") {
		t.Errorf("got %v, want an error that names the key", err)
	}
}

func TestMergeValues(t *testing.T) {
	t.Parallel()
	values := map[string]any{"a": map[string]any{"b": "1", "c": "2"}, "list": []any{"x"}, "kept": true}
	mergeValues(values, map[string]any{"a": map[string]any{"b": int64(2)}, "list": []any{}, "null": nil})
	want := map[string]any{"a": map[string]any{"b": int64(2), "c": "2"}, "list": []any{}, "null": nil, "kept": true}
	if !reflect.DeepEqual(values, want) {
		t.Errorf("got %v, want %v", values, want)
	}
}
