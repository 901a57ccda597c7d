package bundle

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// csv merges the CSV. Its time stays unless something else changes, and so does the builder's name.
func (u *Update) csv(name string) error {
	now := u.Manifests.CSV
	disk, ok, err := u.Read(name)
	if err != nil {
		return err
	}
	var onDisk map[string]any
	if ok && len(bytes.TrimSpace(disk)) > 0 { // an empty file has nothing to keep
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
	generated := maps.Clone(now) // merged may be now itself
	setAnnotation(generated, annotationBuilder, nowBuilder)
	u.generated[name], err = encodeText(generated)
	if err != nil {
		return err
	}
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

func encodeText(v any) (string, error) {
	data, err := manifest.Encode(v)
	return string(data), err
}

// additiveInCSV tells where people add to a committed CSV what no base has.
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

// noteReplaces reminds of the upgrade edge when the version on disk is another.
func (u *Update) noteReplaces(name string, disk, now map[string]any) {
	old, new := textAt(disk, "metadata", "name"), textAt(now, "metadata", "name")
	if old == new || old == "" || textAt(now, "spec", "replaces") != "" || textAt(now, "metadata", "annotations", "olm.skipRange") != "" {
		return
	}
	n := Note{Position: manifest.Position{File: name}, Subject: new,
		Reason: fmt.Sprintf("replaces no version, although the bundle was %s before", old),
		Advice: fmt.Sprintf("write spec.replaces: %s into the base CSV if that version was released", old)}
	if replaces := textAt(disk, "spec", "replaces"); replaces != "" {
		n.Reason = fmt.Sprintf("keeps spec.replaces: %s of the bundle that was %s before", replaces, old)
	}
	u.notes = append(u.notes, n)
}

func takeAnnotation(fields map[string]any, key string) string {
	meta, _ := asMap(fields["metadata"])
	annotations, _ := asMap(meta["annotations"])
	value, _ := annotations[key].(string)
	delete(annotations, key)
	return value
}

// setAnnotation writes an annotation without changing the mappings that fields shares with others.
func setAnnotation(fields map[string]any, key, value string) {
	meta, _ := asMap(fields["metadata"])
	meta = maps.Clone(meta)
	annotations, _ := asMap(meta["annotations"])
	annotations = maps.Clone(annotations)
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations[key] = value
	meta["annotations"] = annotations
	fields["metadata"] = meta
}

func textAt(fields map[string]any, steps ...string) string {
	for i, step := range steps {
		if i == len(steps)-1 {
			s, _ := fields[step].(string)
			return s
		}
		fields, _ = asMap(fields[step])
	}
	return ""
}
