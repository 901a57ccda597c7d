package helmoperator

import (
	"errors"
	"strings"
	"testing"
)

const secretManifest = `---
# Source: db/templates/secret.yaml
apiVersion: v1
kind: Secret
metadata:
  name: db
data:
  password: aHVudGVyMi1pcy1sb25n
stringData:
  pin: "4711"
  file: |
    first-line-of-file
    second-line-of-file
---
# Source: db/templates/configmap.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: db
data:
  text: "not a Secret, 4711a"
`

func TestRedact(t *testing.T) {
	t.Parallel()
	var r redactor
	r.addManifest(secretManifest)
	r.AddValues(map[string]any{
		"auth": map[string]any{"rootPassword": "from-values", "user": "admin"},
		"list": []any{map[string]any{"apiKey": "key-in-list"}},
	})
	text := "plain hunter2-is-long encoded aHVudGVyMi1pcy1sb25n pin 4711 not 47112 line second-line-of-file values from-values key-in-list admin"
	want := "plain [redacted] encoded [redacted] pin [redacted] not 47112 line [redacted] values [redacted] [redacted] admin"
	if got := r.Redact(text); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	cause := errors.New("bad from-values")
	if err := r.RedactError(cause); err.Error() != "bad [redacted]" || !errors.Is(err, cause) {
		t.Errorf("got %v, want a redacted error that wraps the cause", err)
	}
	if err := r.RedactError(nil); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

func TestRedactManifest(t *testing.T) {
	t.Parallel()
	got := redactManifest(secretManifest)
	for _, secret := range []string{"aHVudGVyMi1pcy1sb25n", `pin: "4711"`, "first-line-of-file", "second-line-of-file"} {
		if strings.Contains(got, secret) {
			t.Errorf("manifest contains %q:\n%s", secret, got)
		}
	}
	_, configMap, _ := strings.Cut(secretManifest, "# Source: db/templates/configmap.yaml")
	if !strings.Contains(got, configMap) || !strings.Contains(got, "password: '[redacted]'") {
		t.Errorf("want the ConfigMap unchanged and the keys of the Secret:\n%s", got)
	}
}
