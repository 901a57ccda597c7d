package release

import (
	"encoding/base64"
	"slices"
	"strings"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// minSecret is the length of the shortest content of a Secret that is redacted. Shorter ones are part of most texts.
const minSecret = 4

// A redactedError hides contents of Secrets in the text of an error.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

// Unwrap returns the error, for errors.Is and errors.As. Its text may contain secrets.
func (e *redactedError) Unwrap() error { return e.err }

// redact replaces contents of the Secrets of revisions in the text of an error: messages of the server and of patches may quote
// the fields that they are about.
func (r *Release) redact(err error, revisions ...*releasev1.Release) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, content := range secretContents(revisions) {
		text = strings.ReplaceAll(text, content, "[redacted]")
	}
	if text == err.Error() {
		return err
	}
	return &redactedError{text, err}
}

// SecretContents returns the contents of a Secret, encoded and decoded, in no particular order.
func SecretContents(secret map[string]any) []string {
	var contents []string
	data, _, _ := unstructured.NestedMap(secret, "data")
	for _, value := range data {
		encoded, ok := value.(string)
		if !ok {
			continue
		}
		contents = append(contents, encoded)
		if plain, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			contents = append(contents, string(plain))
		}
	}
	data, _, _ = unstructured.NestedMap(secret, "stringData")
	for _, value := range data {
		if plain, ok := value.(string); ok {
			contents = append(contents, plain, base64.StdEncoding.EncodeToString([]byte(plain)))
		}
	}
	return contents
}

// secretContents returns the contents of all Secrets, longest first.
func secretContents(revisions []*releasev1.Release) []string {
	var contents []string
	for _, revision := range revisions {
		if revision == nil {
			continue
		}
		manifests := []string{revision.Manifest}
		for _, hook := range revision.Hooks {
			manifests = append(manifests, hook.Manifest)
		}
		for _, manifest := range manifests {
			objects, err := parseManifest(manifest)
			if err != nil {
				continue // not a manifest that the server has seen
			}
			for _, object := range objects {
				if object.GetKind() != "Secret" {
					continue
				}
				for _, content := range SecretContents(object.Object) {
					if len(content) >= minSecret {
						contents = append(contents, content)
					}
				}
			}
		}
	}
	slices.SortFunc(contents, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(contents)
}
