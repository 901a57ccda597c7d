package bundle

import (
	"path"
	"reflect"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// An Update merges a generated bundle with the one on disk. Edits of the user stay: each value is merged from what was
// generated before, what is generated now and what the file has.
type Update struct {
	// Dir is the slash-separated bundle directory, relative to the project.
	Dir string
	// Subdir is the directory of the manifests below Dir, ManifestsDir if empty.
	Subdir string
	// Manifests and Metadata are what is generated now; nil keeps the files.
	Manifests *Manifests
	Metadata  *Metadata
	// Read returns a file of the project and whether it exists. List holds the names of the files in the
	// manifests directory.
	Read func(name string) ([]byte, bool, error)
	List []string
	// Before is what was generated before, nil if unknown. Edits lists the recorded edits for that case.
	Before Record
	Edits  []Edit
	// Now is the creation time of a changed CSV.
	Now time.Time

	files     map[string][]byte
	generated Record
	removed   []string
	notes     diag.Findings
	kept      []Edit
	conflicts diag.Findings
	problems  diag.Findings
}

// A Record maps files to their generated content.
type Record map[string]string

// Updated is the result of an Update.
type Updated struct {
	// Files holds the new content of files, Removed the files to remove.
	Files   map[string][]byte
	Removed []string
	// Generated is the record for the next update. Kept lists the edits that replace generated values.
	Generated Record
	Kept      []Edit
	// Created is the creation time in the CSV, empty without a CSV.
	Created string
	Notes   diag.Findings
}

// Run merges all files. The error is Conflicts, or diag.Findings of files that cannot be parsed.
func (u *Update) Run() (*Updated, error) {
	u.files, u.generated = map[string][]byte{}, Record{}
	if u.Manifests != nil {
		if err := u.mergeManifests(); err != nil {
			return nil, err
		}
	}
	if u.Metadata != nil {
		if err := u.mergeMetadata(); err != nil {
			return nil, err
		}
	}
	if len(u.problems) > 0 {
		return nil, u.problems
	}
	if len(u.conflicts) > 0 {
		return nil, diag.Advise(u.conflicts, "nothing was written; to keep the edit, make it in the source of the value (the base CSV, a manifest or a flag); "+
			"to discard it, restore the value generated before")
	}
	for _, e := range u.Edits {
		if _, ok := u.generated[e.File]; ok {
			continue
		}
		if _, there, err := u.Read(e.File); err != nil {
			return nil, err
		} else if there {
			u.kept = append(u.kept, e)
		}
	}
	for name, text := range u.Before {
		if _, ok := u.generated[name]; !ok && (u.Manifests == nil || u.Metadata == nil) {
			u.generated[name] = text // not generated this time
		}
	}
	up := &Updated{Files: u.files, Removed: u.removed, Generated: u.generated, Kept: u.kept, Notes: u.notes}
	if u.Manifests != nil {
		up.Created = CreatedAt(u.files[u.in(u.Manifests.Name)])
	}
	return up, nil
}

func (u *Update) in(name string) string {
	if u.Subdir == "" {
		return path.Join(u.Dir, ManifestsDir, name)
	}
	return path.Join(u.Dir, u.Subdir, name)
}

func (u *Update) mergeManifests() error {
	m := u.Manifests
	if err := u.mergeCSV(u.in(m.Name)); err != nil {
		return err
	}
	for _, name := range m.Order {
		if err := u.mergeManifest(u.in(name), m.Files[name]); err != nil {
			return err
		}
	}
	if m.Scorecard != nil {
		if err := u.mergeManifest(path.Join(u.Dir, ScorecardFile), m.Scorecard); err != nil {
			return err
		}
	}
	return u.removeStale()
}

func (u *Update) merger(name string, additive func([]string) bool) *merger {
	m := &merger{file: name, additive: additive, edits: map[string]Edit{}}
	_, m.known = u.Before[name]
	for _, e := range u.Edits {
		if e.File == name {
			m.edits[pathKey(e.Path)] = e
		}
	}
	return m
}

func (u *Update) done(m *merger) {
	u.kept = append(u.kept, m.kept...)
	u.conflicts = append(u.conflicts, m.conflicts...)
}

// fields decodes a manifest of the bundle; it reports problems and returns nil if that fails.
func (u *Update) fields(name string, text []byte) map[string]any {
	objects, problems := manifest.Decode(name, text)
	if len(problems) > 0 {
		for i := range problems {
			problems[i].Problem += "; correct it, or delete the file to regenerate it"
		}
		u.problems = append(u.problems, problems...)
		return nil
	}
	if len(objects) != 1 {
		u.problems.Addf(diag.Position{File: name},
			"holds %d objects instead of one; correct it, or delete the file to regenerate it", len(objects))
		return nil
	}
	return objects[0].Fields
}

// before returns what was generated for a file, missing if unknown.
func (u *Update) before(name string) any {
	text, ok := u.Before[name]
	if !ok {
		return missing{}
	}
	objects, problems := manifest.Decode(name, []byte(text))
	if len(problems) > 0 || len(objects) != 1 {
		return missing{}
	}
	return objects[0].Fields
}

// mergeManifest merges a manifest other than the CSV. If neither the previous content nor edits are known, the generated
// manifest replaces the file.
func (u *Update) mergeManifest(name string, now []byte) error {
	u.generated[name] = string(now)
	u.files[name] = now
	disk, ok, err := u.Read(name)
	before, known := u.Before[name]
	m := u.merger(name, nil)
	known = known || len(m.edits) > 0
	if err != nil || !ok || !known || string(disk) == before || string(disk) == string(now) {
		return err
	}
	onDisk := u.fields(name, disk)
	if onDisk == nil {
		return nil
	}
	fields, _ := manifest.Decode(name, now)
	merged := m.merge(nil, u.before(name), fields[0].Fields, onDisk)
	u.done(m)
	if reflect.DeepEqual(merged, any(onDisk)) {
		u.files[name] = disk
		return nil
	}
	u.files[name], err = manifest.Encode(merged)
	return err
}
