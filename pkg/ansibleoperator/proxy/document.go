package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// errUnsupported is the error of bodies that cannot be edited. Clients answer it by sending JSON.
var errUnsupported = errors.New("the proxy of the operator cannot add the owner to this type of body")

// A document is an object in the body of a request, whose metadata can be edited. The rest of it is forwarded as it was sent.
type document interface {
	// owners returns the owner references.
	owners() []metav1.OwnerReference
	// addOwner adds an owner reference.
	addOwner(reference metav1.OwnerReference)
	// annotations returns the annotations.
	annotations() map[string]string
	setAnnotation(key, value string)
	// encode returns the body and its media type.
	encode() ([]byte, string, error)
}

// parseDocument returns the object in a body. It is nil without an error if the body is not an object; the API server reports that.
func parseDocument(contentType string, data []byte) (document, error) {
	media := jsonType
	if contentType != "" {
		var err error
		if media, _, err = mime.ParseMediaType(contentType); err != nil {
			return nil, nil
		}
	}
	switch media {
	case jsonType, mergePatch:
		return parseJSON(media, data)
	case "application/yaml", applyPatch:
		// YAML of the API server contains JSON.
		if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) {
			return parseJSON(yamlEquivalent(media), trimmed)
		}
		converted, err := safeyaml.ToJSON(data)
		if err != nil {
			return nil, fmt.Errorf("the body is not valid YAML: %w", err)
		}
		return parseJSON(yamlEquivalent(media), converted)
	case protobufType:
		return parseProtobuf(data)
	}
	return nil, errUnsupported
}

// yamlEquivalent returns the media type of the JSON that replaces YAML. All JSON is YAML.
func yamlEquivalent(media string) string {
	if media == applyPatch {
		return media
	}
	return jsonType
}

// A jsonDocument keeps all values outside of the metadata as they were sent.
type jsonDocument struct {
	media            string
	top              map[string]json.RawMessage
	meta             map[string]json.RawMessage
	refs             []json.RawMessage
	annotationValues map[string]json.RawMessage
	// changedRefs and changedAnnotations report what has to be encoded anew.
	changedRefs, changedAnnotations bool
}

func parseJSON(media string, data []byte) (document, error) {
	d := &jsonDocument{media: media}
	if json.Unmarshal(data, &d.top) != nil || d.top == nil {
		return nil, nil
	}
	if raw := d.top["metadata"]; raw != nil {
		if json.Unmarshal(raw, &d.meta) != nil {
			return nil, nil
		}
	}
	if raw := d.meta["ownerReferences"]; raw != nil && json.Unmarshal(raw, &d.refs) != nil {
		return nil, nil
	}
	if raw := d.meta["annotations"]; raw != nil && json.Unmarshal(raw, &d.annotationValues) != nil {
		return nil, nil
	}
	return d, nil
}

func (d *jsonDocument) owners() []metav1.OwnerReference {
	var references []metav1.OwnerReference
	for _, raw := range d.refs {
		var reference metav1.OwnerReference
		if json.Unmarshal(raw, &reference) == nil {
			references = append(references, reference)
		}
	}
	return references
}

func (d *jsonDocument) addOwner(reference metav1.OwnerReference) {
	raw, err := json.Marshal(reference)
	if err != nil {
		return // It consists of strings.
	}
	d.refs, d.changedRefs = append(d.refs, raw), true
}

func (d *jsonDocument) annotations() map[string]string {
	annotations := map[string]string{}
	for key, raw := range d.annotationValues {
		var value string
		if json.Unmarshal(raw, &value) == nil {
			annotations[key] = value
		}
	}
	return annotations
}

func (d *jsonDocument) setAnnotation(key, value string) {
	raw, err := json.Marshal(value)
	if err != nil {
		return // It is a string.
	}
	if d.annotationValues == nil {
		d.annotationValues = map[string]json.RawMessage{}
	}
	d.annotationValues[key], d.changedAnnotations = raw, true
}

func (d *jsonDocument) encode() ([]byte, string, error) {
	if d.meta == nil {
		d.meta = map[string]json.RawMessage{}
	}
	set := func(into map[string]json.RawMessage, key string, value any) error {
		raw, err := json.Marshal(value)
		into[key] = raw
		return err
	}
	var errs []error
	if d.changedRefs {
		errs = append(errs, set(d.meta, "ownerReferences", d.refs))
	}
	if d.changedAnnotations {
		errs = append(errs, set(d.meta, "annotations", d.annotationValues))
	}
	errs = append(errs, set(d.top, "metadata", d.meta))
	data, err := json.Marshal(d.top)
	return data, d.media, errors.Join(append(errs, err)...)
}

func hasOwner(references []metav1.OwnerReference, owner Owner) bool {
	return slices.ContainsFunc(references, func(r metav1.OwnerReference) bool { return r.UID == owner.UID })
}
