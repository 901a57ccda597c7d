// Package redact removes secret data from texts that users read: conditions, events, errors and logs.
package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
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

var (
	passwordKey = lazyregexp.New(`(?i)(pass(word|wd|phrase)?s?|passw(or)?d[-_.]?hash|pwd)$`)
	secretKey   = lazyregexp.New(`(?i)(secret|token|credential|(api|private|access|ssh|encryption|signing|tls)[-_.]?key|htpasswd|dockerconfig)`)
	// referenceKey matches keys whose values are names of Secrets or files, which messages have to contain.
	referenceKey = lazyregexp.New(`(?i)((name|namespace|ref|reference|file|path)$|^(existing|image[-_]?pull)[-_]?secret)`)
	// publicKey matches the keys of Secrets whose values are not secret. Messages without them could not be understood.
	publicKey = lazyregexp.New(`(?i)^(user(name)?|host(name)?|port|type|db[-_]?name|database|namespace|(ca|tls)\.crt)$`)
)

// IsSecretKey reports whether values with a name are secret.
func IsSecretKey(name string) bool {
	return (passwordKey.MatchString(name) || secretKey.MatchString(name)) && !referenceKey.MatchString(name)
}

// A Redactor removes the secrets that were added from texts. The zero value has none. It may be used concurrently.
type Redactor struct {
	mu      sync.Mutex
	secrets map[string]bool
	// words are the secrets that are redacted as words only, and long redacts the others. Both are nil after a change.
	words []string
	long  *strings.Replacer
}

// AddValues adds the values, such as the fields of a spec, whose keys have names of secrets, and what is below such keys except for
// references to objects.
func (r *Redactor) AddValues(values any) {
	switch v := values.(type) {
	case map[string]any:
		for key, value := range v {
			switch text, isText := value.(string); {
			case !IsSecretKey(key):
				r.AddValues(value)
			case isText:
				r.Add(text)
				r.addText(text)
			default:
				r.addBelow(value, passwordKey.MatchString(key))
			}
		}
	case []any:
		for _, value := range v {
			r.AddValues(value)
		}
	}
}

// addBelow adds all texts in a value, and numbers if they can be passwords.
func (r *Redactor) addBelow(value any, numbers bool) {
	switch v := value.(type) {
	case string:
		r.Add(v)
		r.addText(v)
	case map[string]any:
		for key, value := range v {
			if key != "name" && key != "key" && !referenceKey.MatchString(key) {
				r.addBelow(value, numbers)
			}
		}
	case []any:
		for _, value := range v {
			r.addBelow(value, numbers)
		}
	case int64, float64:
		if numbers {
			r.Add(fmt.Sprint(v))
		}
	}
}

// AddSecret adds the contents of a Secret in the form of JSON, decoded and encoded with base64.
func (r *Redactor) AddSecret(object map[string]any) {
	data, _ := object["data"].(map[string]any)
	for key, value := range data {
		encoded, _ := value.(string)
		if publicKey.MatchString(key) {
			continue
		}
		r.Add(encoded)
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			r.Add(string(decoded))
		}
	}
	data, _ = object["stringData"].(map[string]any)
	for key, value := range data {
		decoded, _ := value.(string)
		if publicKey.MatchString(key) {
			continue
		}
		r.Add(decoded)
		r.Add(base64.StdEncoding.EncodeToString([]byte(decoded)))
	}
}

// Add adds a value, and each of its lines, as texts often contain parts of a file, also in the form of JSON.
func (r *Redactor) Add(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range append(strings.Split(secret, "\n"), secret) {
		for _, form := range []string{strings.TrimSpace(text), escape(strings.TrimSpace(text))} {
			if len(form) < minSecret || r.secrets[form] {
				continue
			}
			if r.secrets == nil {
				r.secrets = map[string]bool{}
			}
			r.secrets[form], r.words, r.long = true, nil, nil
		}
	}
}

// escape returns a text as it is between the quotes of JSON.
func escape(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return text
	}
	return b.String()[1 : b.Len()-2] // without quotes and line feed
}

// Redact returns text without the secrets.
func (r *Redactor) Redact(text string) string {
	if text == "" {
		return ""
	}
	words, long := r.matchers()
	text = long.Replace(text)
	for _, word := range words {
		if strings.Contains(text, word) {
			text = replaceWord(text, word, Replacement)
		}
	}
	return text
}

// matchers returns what finds the secrets, longest first, as a secret may contain another one.
func (r *Redactor) matchers() ([]string, *strings.Replacer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.long == nil {
		var pairs []string
		for _, secret := range slices.SortedFunc(maps.Keys(r.secrets), func(a, b string) int {
			return cmp.Or(len(b)-len(a), strings.Compare(a, b))
		}) {
			if len(secret) >= minSubstring {
				pairs = append(pairs, secret, Replacement)
			} else {
				r.words = append(r.words, secret)
			}
		}
		r.long = strings.NewReplacer(pairs...)
	}
	return r.words, r.long
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

// WithoutSecrets returns values without those whose keys have names of secrets.
func WithoutSecrets(values any) any {
	switch v := values.(type) {
	case map[string]any:
		result := map[string]any{}
		for key, value := range v {
			if !IsSecretKey(key) {
				result[key] = WithoutSecrets(value)
			}
		}
		return result
	case []any:
		result := make([]any, len(v))
		for i, value := range v {
			result[i] = WithoutSecrets(value)
		}
		return result
	}
	return values
}
