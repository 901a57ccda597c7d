package helmoperator

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// redacted replaces secret data in texts.
const redacted = "[redacted]"

const (
	// minSecret is the length of the shortest value that is redacted. Shorter ones, such as "no" or "1", are not secret, and removing
	// them would make texts unreadable.
	minSecret = 4
	// minSubstring is the length from which a value is redacted within words, too.
	minSubstring = 8
)

// secretKey matches names of values that are secret.
var secretKey = regexp.MustCompile(`(?i)(pass(word|wd|phrase)?$|pwd|secret|token|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key|htpasswd|dockerconfig)`)

// A redactor removes secret data from texts that users read: conditions, events, errors and logs.
type redactor struct {
	secrets map[string]bool
	// sorted are the secrets, longest first, as a secret may contain another one; nil after a change.
	sorted []string
}

// addManifest adds the data of all Secrets of a rendered manifest.
func (r *redactor) addManifest(manifest string) {
	for _, document := range splitManifest(manifest) {
		if object, ok := decodeSecret(document); ok {
			r.addSecret(object)
		}
	}
}

// addSecret adds the data of a Secret, encoded and decoded.
func (r *redactor) addSecret(object map[string]any) {
	for _, content := range release.SecretContents(object) {
		r.add(content)
	}
}

// addValues adds the values of a chart whose keys have names of secrets.
func (r *redactor) addValues(values any) {
	switch v := values.(type) {
	case map[string]any:
		for key, value := range v {
			if text, ok := value.(string); ok && secretKey.MatchString(key) {
				r.add(text)
			} else {
				r.addValues(value)
			}
		}
	case []any:
		for _, value := range v {
			r.addValues(value)
		}
	}
}

// add adds a value, and each of its lines, as texts often contain parts of a file.
func (r *redactor) add(secret string) {
	if r.secrets == nil {
		r.secrets = map[string]bool{}
	}
	for _, text := range append(strings.Split(secret, "\n"), secret) {
		if text = strings.TrimSpace(text); len(text) >= minSecret && !r.secrets[text] {
			r.secrets[text], r.sorted = true, nil
		}
	}
}

// redact returns text without the secrets.
func (r *redactor) redact(text string) string {
	if text == "" {
		return ""
	}
	if r.sorted == nil {
		r.sorted = slices.SortedFunc(maps.Keys(r.secrets), func(a, b string) int {
			return cmp.Or(len(b)-len(a), strings.Compare(a, b))
		})
	}
	for _, secret := range r.sorted {
		if !strings.Contains(text, secret) {
			continue
		}
		if len(secret) >= minSubstring {
			text = strings.ReplaceAll(text, secret, redacted)
			continue
		}
		text = replaceWord(text, secret, redacted)
	}
	return text
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

// redactError returns err with a redacted message. It still wraps err.
func (r *redactor) redactError(err error) error {
	if err == nil {
		return nil
	}
	if text := r.redact(err.Error()); text != err.Error() {
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

// splitManifest returns the documents of a manifest as Helm writes it.
func splitManifest(manifest string) []string {
	return strings.Split("\n"+manifest, "\n---")
}

// decodeSecret returns the Secret of a document, and whether it is one.
func decodeSecret(document string) (map[string]any, bool) {
	if !strings.Contains(document, "Secret") {
		return nil, false
	}
	var object map[string]any
	if err := safeyaml.Unmarshal([]byte(document), &object); err != nil {
		return nil, false
	}
	return object, object["kind"] == "Secret" && object["apiVersion"] == "v1"
}

// redactManifest returns a manifest with the data of its Secrets replaced. Other documents keep their bytes.
func redactManifest(manifest string) string {
	documents := splitManifest(manifest)
	for i, document := range documents {
		object, ok := decodeSecret(document)
		if !ok {
			continue
		}
		for _, key := range []string{"data", "stringData"} {
			data, _, _ := unstructured.NestedMap(object, key)
			for name := range data {
				data[name] = redacted
			}
			if data != nil {
				object[key] = data
			}
		}
		if text, err := yaml.Marshal(object); err == nil {
			documents[i] = "\n" + string(text)
		} else {
			documents[i] = "\n# a Secret that cannot be written"
		}
	}
	return strings.TrimPrefix(strings.Join(documents, "\n---"), "\n")
}
