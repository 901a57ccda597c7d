package merge

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// FilesOptions configure a merge of the files of a directory.
type FilesOptions struct {
	Options
	// IsGenerated reports whether edits of a file are not kept. Nil means never.
	IsGenerated func(name string) bool
	// IsTemplate reports whether a file is merged by lines although its name belongs to another format. Nil means never.
	IsTemplate func(name string) bool
}

// A FileReason states why a file isn't simply one side's.
type FileReason string

// The reasons.
const (
	// Conflicting files contain conflict markers.
	Conflicting FileReason = "both sides changed the same lines"
	// KeptDeleted files were deleted by the user, and changed by the other side.
	KeptDeleted FileReason = "you deleted it; the new version changes it"
	// KeptEdited files were edited by the user, and deleted by the other side.
	KeptEdited FileReason = "you edited it; the new version does not have it"
	// Replaced files cannot be merged, or edits of them are not kept.
	Replaced FileReason = "your version is replaced, since the file cannot be merged"
	// KeptChoice files contain values of the user that the other side changed, too.
	KeptChoice FileReason = "your values are kept where the new version has others"
)

// A MergedFile is a file that both sides changed.
type MergedFile struct {
	Name   string
	Reason FileReason
	// Paths are the paths of units with the reason, if the file was merged by unit.
	Paths [][]string
}

// String returns the file with the reason and the paths of units.
func (f MergedFile) String() string {
	var paths []string
	for _, path := range f.Paths {
		paths = append(paths, strings.Join(path[min(1, len(path)):], ".")) // without the document
	}
	text := f.Name + ": " + string(f.Reason)
	if len(paths) > 0 {
		text += ": " + strings.Join(paths, ", ")
	}
	return text
}

// FilesResult is a merged directory.
type FilesResult struct {
	Files map[string][]byte
	// Merged are the files that the user must be aware of, by name.
	Merged []MergedFile
}

// Conflicts returns the names of files with conflict markers.
func (r *FilesResult) Conflicts() []string {
	var names []string
	for _, f := range r.Merged {
		if f.Reason == Conflicting {
			names = append(names, f.Name)
		}
	}
	return names
}

// Files merges three versions of the files of a directory, by name. Missing files are those that a side does not have.
func Files(base, ours, theirs map[string][]byte, o FilesOptions) *FilesResult {
	r := &FilesResult{Files: map[string][]byte{}}
	names := map[string]bool{}
	for _, files := range []map[string][]byte{base, ours, theirs} {
		for name := range files {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		r.file(name, fileIn(base, name), fileIn(ours, name), fileIn(theirs, name), o)
	}
	return r
}

// fileIn returns a file, which is nil only if it is missing.
func fileIn(files map[string][]byte, name string) []byte {
	data, ok := files[name]
	if ok && data == nil {
		return []byte{}
	}
	return data
}

// file merges a file; nil is a missing file.
func (r *FilesResult) file(name string, base, ours, theirs []byte, o FilesOptions) {
	take := func(data []byte) {
		if data != nil {
			r.Files[name] = data
		}
	}
	note := func(reason FileReason, paths ...[]string) {
		r.Merged = append(r.Merged, MergedFile{name, reason, paths})
	}
	generated := o.IsGenerated != nil && o.IsGenerated(name)
	switch {
	case sameFile(ours, theirs), sameFile(base, theirs) && !generated:
		take(ours)
	case sameFile(base, ours):
		take(likeOurs(ours, theirs))
	case generated:
		take(theirs)
	case ours == nil && o.Side == Theirs, theirs == nil && o.Side == Theirs:
		take(theirs)
	case ours == nil:
		note(KeptDeleted)
	case theirs == nil:
		take(ours)
		note(KeptEdited)
	case isBinary(ours) || isBinary(theirs):
		if o.Side == Ours {
			take(ours)
			return
		}
		take(theirs)
		note(Replaced)
	default:
		lf, crlf := textdiff.ToLF(ours)
		oldBase, _ := textdiff.ToLF(base)
		newText, _ := textdiff.ToLF(theirs)
		merged, reason, paths := mergeTexts(name, oldBase, lf, newText, o)
		take(textdiff.FromLF(merged, crlf))
		if reason != "" {
			note(reason, paths...)
		}
	}
}

// mergeTexts merges a text by lines. YAML is merged by unit if that leaves conflicts or repeated keys.
func mergeTexts(name string, base, ours, theirs []byte, o FilesOptions) (merged []byte, reason FileReason, paths [][]string) {
	byLines, conflicts := Lines(base, ours, theirs, o.Options)
	if conflicts > 0 {
		reason = Conflicting
	}
	isYAML := formatOf(name) == formatYAML && (o.IsTemplate == nil || !o.IsTemplate(name)) && isValid(ours) && isValid(theirs)
	if !isYAML || conflicts == 0 && isValid(byLines) {
		return byLines, reason, nil
	}
	if conflicts == 0 { // the lines fit, but not what they mean
		byLines, _ = Lines(nil, ours, theirs, o.Options)
	}
	b, err := newBase(name, base)
	if err != nil {
		return byLines, Conflicting, nil
	}
	byUnit, result, err := MergeFile(name, ours, theirs, b, o.Options)
	switch {
	case err != nil || result.Reason != "" || len(result.Conflicts) == 0 && !isValid(byUnit):
		return byLines, Conflicting, nil
	case len(result.Conflicts) > 0:
		return byUnit, Conflicting, result.Conflicts
	case len(result.Choices) > 0:
		return byUnit, KeptChoice, result.Choices
	}
	return byUnit, "", nil
}

// isValid reports whether a text is YAML without repeated keys.
func isValid(text []byte) bool {
	documents, err := safeyaml.Documents[yaml.Node](text)
	for _, d := range documents {
		var value any
		if err == nil {
			err = d.Decode(&value)
		}
	}
	return err == nil
}

// sameFile reports whether two files differ in nothing but their line ends, or are both missing.
func sameFile(a, b []byte) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	if bytes.Equal(a, b) {
		return true
	}
	lfA, _ := textdiff.AllToLF(a)
	lfB, _ := textdiff.AllToLF(b)
	return bytes.Equal(lfA, lfB) && !isBinary(a)
}

// likeOurs returns theirs with the line ends of ours.
func likeOurs(ours, theirs []byte) []byte {
	if _, crlf := textdiff.ToLF(ours); crlf && theirs != nil && !isBinary(theirs) {
		lf, _ := textdiff.ToLF(theirs)
		return textdiff.FromLF(lf, true)
	}
	return theirs
}

// isBinary reports whether a file isn't text.
func isBinary(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) }
