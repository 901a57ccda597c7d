package gateway

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBaseVersion reads the version in the bodies of changes, which must stay whole.
func TestBaseVersion(t *testing.T) {
	t.Parallel()
	const body, target = `{"metadata": {"name": "two", "resourceVersion": "42"}}`, "/api/v1/namespaces/a/pods/one"
	for request, want := range map[string]string{
		"PUT " + target: "42", "PUT " + target + "/status": "42", "PATCH " + target: "42", "DELETE " + target: "", "POST " + target + "/eviction": "",
	} {
		method, path, _ := strings.Cut(request, " ")
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		got, err := parseRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(r.Body); got.BaseVersion != want || got.Name != "one" || string(rest) != body || err != nil {
			t.Errorf("%s: version %q of %s, then %q, %v", request, got.BaseVersion, got.Name, rest, err)
		}
	}
}

// TestManager checks who manages the fields that a write sets.
func TestManager(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Record{
		"manager": {UserAgent: "manager/v0.0.0 (linux/amd64)"}, "python": {UserAgent: "python"}, "": {},
		"applier": {UserAgent: "manager/v0.0.0", Request: Request{FieldManager: "applier"}},
	} {
		if got := r.Manager(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
