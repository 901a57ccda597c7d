package scaffold_test

import (
	"testing"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/templates"
)

// FuzzYAML checks that YAML returns what YAML 1.1, as Kubernetes and kustomize read it, and YAML 1.2 read as the same string.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{"memcached", "", "~", "null", "Null", "true", "y", "N", "on", "OFF", "2026", "017", "08", "0o17", "0b1", "0x1F", "1_000", "1:20", "190:20:30",
		"1.6", ".5", "1e3", "+1", "-1.", ".inf", "-.Inf", ".nan", "2001-01-01", "2001-01-01T00:00:00Z", "=", "<<", "-", "- a", "a: b", "a #b", "#", "*a", "&a", "!a", "%a", "@a", "`a", "'a", "\"a", "a'b", " a", "a "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range s {
			if r < ' ' || r == 0x7f || r == 0xfffd || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff {
				t.Skip("not a string of one line")
			}
		}
		text := "key: " + templates.YAML(s) + "\n"
		old, current := map[string]any{}, map[string]any{}
		if err := k8syaml.Unmarshal([]byte(text), &old); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := yaml.Unmarshal([]byte(text), &current); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if old["key"] != s || current["key"] != s {
			t.Errorf("%q is written as %q, and read as %#v and %#v", s, text, old["key"], current["key"])
		}
	})
}

// TestYAMLQuotesOnlyWhereNeeded checks that usual names stay without quotes.
func TestYAMLQuotesOnlyWhereNeeded(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"memcached-operator", "memcached:1.6.39-alpine", "localhost:5000/a/b@sha256:0", "cache.example.com", "Memcached", "v1", "1.6.39", "truely", "go.kubebuilder.io/v4"} {
		if got := templates.YAML(s); got != s {
			t.Errorf("got %s, want %s", got, s)
		}
	}
}
