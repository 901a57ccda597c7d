package bundle

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// stale takes away manifests that were generated before and are not any more. Files of a person stay,
// with a note where they would make the bundle invalid.
func (u *Update) stale() error {
	for _, base := range u.List {
		name := u.in(base)
		if _, ok := u.files[name]; ok {
			continue
		}
		disk, ok, err := u.Read(name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		before, known := u.Before[name]
		edited := slices.ContainsFunc(u.Edits, func(e Edit) bool { return e.File == name })
		switch {
		case known && before == string(disk), !known && !edited && generatedFile(base, disk):
			u.removed = append(u.removed, name)
			u.notes = append(u.notes, Note{Subject: name, Reason: "was generated before and is not any more; it is removed"})
		case known, edited:
			u.notes = append(u.notes, Note{Subject: name, Reason: "was generated before and is not any more, but it was edited by hand; it stays",
				Advice: "delete it if it is not needed"})
		case strings.HasSuffix(base, ".clusterserviceversion.yaml"):
			u.notes = append(u.notes, Note{Subject: name, Reason: "is a second CSV, which makes the bundle invalid; it stays",
				Advice: "delete it"})
		}
	}
	return nil
}

// generatedFile tells by a file alone whether it was generated: it has the name that its object would
// be given, and is a CRD, which a bundle must not hold without owning it, or is written as it would be.
func generatedFile(base string, text []byte) bool {
	objects, problems := manifest.Decode(base, text)
	if len(problems) > 0 || len(objects) != 1 {
		return false
	}
	o := objects[0]
	if o.Group() == groupCRD && o.Kind() == kindCRD {
		spec, _ := asMap(o.Fields["spec"])
		names, _ := asMap(spec["names"])
		return base == fmt.Sprintf("%v_%v.yaml", spec["group"], names["plural"])
	}
	if o.Kind() == kindCSV || base != objectFile(o) || o.Namespace() != "" {
		return false
	}
	encoded, err := manifest.Encode(o.Fields)
	return err == nil && string(encoded) == string(text) && hasKey(o.Fields, "creationTimestamp")
}

// hasKey tells whether metadata holds a key, be it null: creationTimestamp: null is the mark of what
// went through a Go type, which people do not write.
func hasKey(fields map[string]any, key string) bool {
	meta, _ := asMap(fields["metadata"])
	_, ok := meta[key]
	return ok
}

// ManifestNames picks the names of manifests out of the files below a bundle's folder.
func ManifestNames(dir string, files []string) []string {
	var names []string
	for _, file := range files {
		if rest, ok := strings.CutPrefix(file, path.Join(dir, ManifestsDir)+"/"); ok && !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	return names
}
