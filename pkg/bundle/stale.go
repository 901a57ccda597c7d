package bundle

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// removeStale removes manifests that are not generated any more. Files of the user stay, with a note if they make the
// bundle invalid.
func (u *Update) removeStale() error {
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
		case known && before == string(disk), !known && !edited && isGeneratedFile(base, disk):
			u.removed = append(u.removed, name)
			u.notes = append(u.notes, diag.Finding{Object: name, Problem: "is no longer generated; removed"})
		case known, edited:
			u.notes = append(u.notes, diag.Finding{Object: name, Problem: "is no longer generated but was edited; kept",
				Fix: "delete it if it is not needed"})
		case strings.HasSuffix(base, ".clusterserviceversion.yaml"):
			u.notes = append(u.notes, diag.Finding{Object: name, Problem: "is a second CSV, which makes the bundle invalid; kept",
				Fix: "delete it"})
		}
	}
	return nil
}

// isGeneratedFile reports whether a file was generated, by its content alone: it has the name derived from its object, and
// is a CRD, which a bundle must own, or is encoded as Operon encodes it.
func isGeneratedFile(base string, text []byte) bool {
	objects, problems := manifest.Decode(base, text)
	if len(problems) > 0 || len(objects) != 1 {
		return false
	}
	o := objects[0]
	if o.Group() == groupCRD && o.Kind() == kindCRD {
		spec := manifest.MapAt(o.Fields, "spec")
		return base == fmt.Sprintf("%v_%v.yaml", spec["group"], manifest.MapAt(spec, "names")["plural"])
	}
	if o.Kind() == kindCSV || base != objectFile(o) || o.Namespace() != "" {
		return false
	}
	// Encoding a Go type adds creationTimestamp: null, which users do not write.
	if _, ok := manifest.MapAt(o.Fields, "metadata")["creationTimestamp"]; !ok {
		return false
	}
	encoded, err := manifest.Encode(o.Fields)
	return err == nil && string(encoded) == string(text)
}

// ManifestNames returns the names of the manifests among the files below a bundle directory.
func ManifestNames(dir string, files []string) []string {
	var names []string
	for _, file := range files {
		if rest, ok := strings.CutPrefix(file, path.Join(dir, ManifestsDir)+"/"); ok && !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	return names
}
