package redact_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/operon-sdk/operon/pkg/redact"
)

// TestConcurrentUse is for the race detector, too.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	var r redact.Redactor
	var group sync.WaitGroup
	for _, secret := range []string{"first-secret", "second-secret", "third-secret"} {
		group.Go(func() {
			r.AddSecret(map[string]any{"stringData": map[string]any{"key": secret}})
			if got := r.Redact("a " + secret); got != "a [redacted]" {
				t.Errorf("got %q", got)
			}
		})
	}
	group.Wait()
	if got, want := r.Redact("first-secret third-secret c2Vjb25kLXNlY3JldA== other"), "[redacted] [redacted] [redacted] other"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAddValues(t *testing.T) {
	t.Parallel()
	var r redact.Redactor
	r.AddValues(map[string]any{
		"password": int64(12345678), "passwords": []any{"first-pass", map[string]any{"value": "second-pass", "name": "user-one"}},
		"passwordHash": "hash-of-it", "apiToken": "to ken/1", "sshKey": "quote\"d-key", "credentials": map[string]any{"login": "login-of-it"},
		"tokenSeconds": int64(86400), "secretName": "web-tls", "imagePullSecrets": []any{map[string]any{"name": "regcred"}},
		"existingSecret": "db-secret", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "from-name", "key": "from-key"}},
	})
	for text, want := range map[string]string{
		"12345678 first-pass second-pass":          "[redacted] [redacted] [redacted]",
		"hash-of-it login-of-it":                   "[redacted] [redacted]",
		`quote"d-key "quote\"d-key"`:               `[redacted] "[redacted]"`,
		`secrets "web-tls" or "regcred" not found`: `secrets "web-tls" or "regcred" not found`,
		"db-secret from-name from-key 86400":       "db-secret from-name from-key 86400",
		"to+ken%2F1 to%20ken/1 dG8ga2VuLzE=":       "[redacted] [redacted] [redacted]", // as in URLs and Secrets
		"user-one":                                 "user-one",
	} {
		if got := r.Redact(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAddSecret(t *testing.T) {
	t.Parallel()
	var r redact.Redactor
	r.AddSecret(map[string]any{
		"data":       map[string]any{"host": "cG9zdGdyZXM=", "password": "aHVudGVyLTI="},
		"stringData": map[string]any{"username": "administrator", "file": "line of a file\nanother line"},
	})
	text := "administrator@postgres-0 hunter-2 aHVudGVyLTI= another line"
	if got, want := r.Redact(text), "administrator@postgres-0 [redacted] [redacted] [redacted]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// BenchmarkRedact redacts a line with the contents of 5,000 Secrets, as after a list of all.
func BenchmarkRedact(b *testing.B) {
	var r redact.Redactor
	for i := range 5000 {
		r.AddSecret(map[string]any{"stringData": map[string]any{"key": strings.Repeat(fmt.Sprintf("line %d of a file\n", i), 30)}})
	}
	line := strings.Repeat("output of a task that is not secret; ", 100)
	for b.Loop() {
		r.Redact(line)
	}
}
