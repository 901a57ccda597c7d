// Package redact removes secret data from texts that users read: conditions, events, errors and logs.
package redact

import (
	"cmp"
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Replacement replaces secret data in texts.
const Replacement = "[redacted]"

const (
	// minSecret is the length of the shortest value that is redacted. Shorter ones, such as "no" or "1", are not secret, and removing
	// them would make texts unreadable.
	minSecret = 4
	// minSubstring is the length from which a value is redacted within words, too.
	minSubstring = 8
)

var secretKey = regexp.MustCompile(`(?i)(pass(word|wd|phrase)?$|pwd|secret|token|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key|htpasswd|dockerconfig)`)

// IsSecretKey reports whether values with a name are secret.
func IsSecretKey(name string) bool { return secretKey.MatchString(name) }

// A Redactor removes the secrets that were added from texts. The zero value has none. It may be used concurrently.
type Redactor struct {
	mu      sync.Mutex
	secrets map[string]bool
	// sorted are the secrets, longest first, as a secret may contain another one; nil after a change.
	sorted []string
}

// AddValues adds the texts in values, such as a spec, whose keys have names of secrets.
func (r *Redactor) AddValues(values any) {
	switch v := values.(type) {
	case map[string]any:
		for key, value := range v {
			if text, ok := value.(string); ok && secretKey.MatchString(key) {
				r.Add(text)
			} else {
				r.AddValues(value)
			}
		}
	case []any:
		for _, value := range v {
			r.AddValues(value)
		}
	}
}

// AddSecret adds the contents of a Secret in the form of JSON, decoded and encoded with base64.
func (r *Redactor) AddSecret(object map[string]any) {
	data, _ := object["data"].(map[string]any)
	for _, value := range data {
		encoded, _ := value.(string)
		r.Add(encoded)
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			r.Add(string(decoded))
		}
	}
	data, _ = object["stringData"].(map[string]any)
	for _, value := range data {
		decoded, _ := value.(string)
		r.Add(decoded)
		r.Add(base64.StdEncoding.EncodeToString([]byte(decoded)))
	}
}

// Add adds a value, and each of its lines, as texts often contain parts of a file.
func (r *Redactor) Add(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.secrets == nil {
		r.secrets = map[string]bool{}
	}
	for _, text := range append(strings.Split(secret, "\n"), secret) {
		if text = strings.TrimSpace(text); len(text) >= minSecret && !r.secrets[text] {
			r.secrets[text], r.sorted = true, nil
		}
	}
}

// Redact returns text without the secrets.
func (r *Redactor) Redact(text string) string {
	if text == "" {
		return ""
	}
	for _, secret := range r.longestFirst() {
		if !strings.Contains(text, secret) {
			continue
		}
		if len(secret) >= minSubstring {
			text = strings.ReplaceAll(text, secret, Replacement)
			continue
		}
		text = replaceWord(text, secret, Replacement)
	}
	return text
}

// longestFirst returns the secrets.
func (r *Redactor) longestFirst() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sorted == nil {
		r.sorted = slices.SortedFunc(maps.Keys(r.secrets), func(a, b string) int {
			return cmp.Or(len(b)-len(a), strings.Compare(a, b))
		})
	}
	return r.sorted
}

// replaceWord replaces word where no letter or digit precedes or follows it.
func replaceWord(text, word, replacement string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, word)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if before != "" && isWordByte(before[len(before)-1]) || after != "" && isWordByte(after[0]) {
			b.WriteString(word)
		} else {
			b.WriteString(replacement)
		}
		text = after
	}
}

func isWordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// RedactError returns err with a redacted message. It still wraps err.
func (r *Redactor) RedactError(err error) error {
	if err == nil {
		return nil
	}
	if text := r.Redact(err.Error()); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }
