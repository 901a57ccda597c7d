package bundle

import (
	"fmt"
	"path"
	"reflect"
	"time"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// Update brings a bundle on disk up to date. What a person edited there stays: each value is merged
// from what was generated before, what is generated now and what the file has.
type Update struct {
	// Dir is the bundle's folder, relative to the project and separated by slashes.
	Dir string
	// Folder is the folder of manifests below Dir, ManifestsDir when empty.
	Folder string
	// Manifests and Metadata are what is generated now; nil leaves the files alone.
	Manifests *Manifests
	Metadata  *Metadata
	// Read gives a file of the project, false where there is none. List gives the names of the files
	// in the bundle's folder of manifests.
	Read func(name string) ([]byte, bool, error)
	List []string
	// Before is what was generated before, nil where that is not known; Edits are what is then known
	// of a person's edits.
	Before Record
	Edits  []Edit
	// Now is the time that a CSV bears that has changed.
	Now time.Time

	files     map[string][]byte
	generated Record
	removed   []string
	notes     []Note
	kept      []Edit
	conflicts Conflicts
	problems  manifest.Problems
}

// Record is what was generated, by file.
type Record map[string]string

// Updated is what an update comes to.
type Updated struct {
	// Files are the contents that files shall have, Removed the files to take away.
	Files   map[string][]byte
	Removed []string
	// Generated is the record for the next time. Kept are the edits that stand in for something that
	// is generated.
	Generated Record
	Kept      []Edit
	// Created is the time in the CSV, empty where no CSV was made.
	Created string
	Notes   []Note
}

// Run merges all files. The error is Conflicts, or manifest.Problems of files that cannot be read.
func (u *Update) Run() (*Updated, error) {
	u.files, u.generated = map[string][]byte{}, Record{}
	if u.Manifests != nil {
		if err := u.manifests(); err != nil {
			return nil, err
		}
	}
	if u.Metadata != nil {
		if err := u.metadata(); err != nil {
			return nil, err
		}
	}
	if len(u.problems) > 0 {
		return nil, u.problems
	}
	if len(u.conflicts) > 0 {
		return nil, u.conflicts
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
	if u.Folder == "" {
		return path.Join(u.Dir, ManifestsDir, name)
	}
	return path.Join(u.Dir, u.Folder, name)
}

func (u *Update) manifests() error {
	m := u.Manifests
	if err := u.csv(u.in(m.Name)); err != nil {
		return err
	}
	for _, name := range m.Order {
		if err := u.manifest(u.in(name), m.Files[name]); err != nil {
			return err
		}
	}
	if m.Scorecard != nil {
		if err := u.manifest(path.Join(u.Dir, ScorecardFile), m.Scorecard); err != nil {
			return err
		}
	}
	return u.stale()
}

// merger makes the merger for a file.
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

// fields reads a manifest of the bundle; nil where there is none, or none that can be merged.
func (u *Update) fields(name string, text []byte) map[string]any {
	objects, problems := manifest.Decode(name, text)
	if len(problems) > 0 {
		for i := range problems {
			problems[i].Problem += "; correct it, or delete the file to have it made anew"
		}
		u.problems = append(u.problems, problems...)
		return nil
	}
	if len(objects) != 1 {
		u.problems = append(u.problems, manifest.Problem{Position: manifest.Position{File: name}, Problem: fmt.Sprintf("holds %d objects instead of one; correct it, or delete the file to have it made anew", len(objects))})
		return nil
	}
	return objects[0].Fields
}

// before gives what was generated for a file, missing where that is not known.
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

// manifest merges a manifest other than the CSV. Without knowing what was generated before or what was
// edited, what is generated now is right.
func (u *Update) manifest(name string, now []byte) error {
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
