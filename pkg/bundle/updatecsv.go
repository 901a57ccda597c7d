package bundle

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// mergeCSV merges the CSV. Its creation time and builder stay unless something else changes.
func (u *Update) mergeCSV(name string) error {
	now := u.Manifests.CSV
	disk, ok, err := u.Read(name)
	if err != nil {
		return err
	}
	var onDisk map[string]any
	if ok && len(bytes.TrimSpace(disk)) > 0 {
		onDisk = u.fields(name, disk)
	}
	if onDisk == nil {
		SetCreated(now, u.Now)
		u.files[name], err = manifest.Encode(now)
		u.generated[name] = string(u.files[name])
		return err
	}
	created := takeAnnotation(onDisk, annotationCreated)
	builder := takeAnnotation(onDisk, annotationBuilder)
	nowBuilder := takeAnnotation(now, annotationBuilder)
	before := u.before(name)
	if b, ok := asMap(before); ok {
		takeAnnotation(b, annotationCreated)
		takeAnnotation(b, annotationBuilder)
	}
	m := u.merger(name, additiveInCSV)
	merged := m.merge(nil, before, now, onDisk)
	u.done(m)
	u.noteReplaces(name, onDisk, now)
	generated := maps.Clone(now) // merged may be the same map
	setAnnotation(generated, annotationBuilder, nowBuilder)
	text, err := manifest.Encode(generated)
	if err != nil {
		return err
	}
	u.generated[name] = string(text)
	if reflect.DeepEqual(merged, any(onDisk)) && created != "" && builder != "" {
		u.files[name] = disk
		return nil
	}
	result, _ := asMap(merged)
	result = maps.Clone(result)
	setAnnotation(result, annotationBuilder, nowBuilder)
	SetCreated(result, u.Now)
	u.files[name], err = manifest.Encode(result)
	return err
}

// additiveInCSV reports whether users add values at this path of a committed CSV that no base has.
func additiveInCSV(at []string) bool {
	switch {
	case len(at) == 3 && at[0] == "metadata":
		return at[1] == "annotations" || at[1] == "labels"
	case len(at) == 2 && at[0] == "metadata":
		return at[1] == "labels"
	case len(at) >= 2 && at[0] == "spec":
		return at[1] == "replaces" || at[1] == "skips" || at[1] == "relatedImages"
	}
	return false
}

// noteReplaces notes a missing upgrade edge if the version on disk differs.
func (u *Update) noteReplaces(name string, disk, now map[string]any) {
	old, new := manifest.TextAt(disk, "metadata", "name"), manifest.TextAt(now, "metadata", "name")
	if old == new || old == "" || manifest.TextAt(now, "spec", "replaces") != "" || manifest.TextAt(now, "metadata", "annotations", "olm.skipRange") != "" {
		return
	}
	n := diag.Finding{Position: diag.Position{File: name}, Object: new,
		Problem: fmt.Sprintf("replaces no version, but the bundle was %s before", old),
		Fix:     fmt.Sprintf("set spec.replaces: %s in the base CSV if that version was released", old)}
	if replaces := manifest.TextAt(disk, "spec", "replaces"); replaces != "" {
		n.Problem = fmt.Sprintf("keeps spec.replaces: %s of the bundle that was %s before", replaces, old)
	}
	u.notes = append(u.notes, n)
}

func takeAnnotation(fields map[string]any, key string) string {
	annotations := manifest.MapAt(fields, "metadata", "annotations")
	value, _ := annotations[key].(string)
	delete(annotations, key)
	return value
}

// setAnnotation sets an annotation without changing mappings that fields shares with other objects.
func setAnnotation(fields map[string]any, key, value string) {
	meta := maps.Clone(manifest.MapAt(fields, "metadata"))
	annotations := maps.Clone(manifest.MapAt(meta, "annotations"))
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations[key] = value
	meta["annotations"] = annotations
	fields["metadata"] = meta
}
