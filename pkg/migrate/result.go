package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// State is the treatment of a file in an upgrade.
type State int

const (
	// Created and Removed are files that only one of the scaffolds has.
	Created State = iota
	Removed
	// Replaced is a file without edits, Merged one whose edits stay.
	Replaced
	Merged
	// Conflicting is a file with units that both the user and the scaffold changed.
	Conflicting
	// Kept is a file that is not changed although the scaffold changed it; Note is the reason.
	Kept
)

// File is the result of an upgrade for one file.
type File struct {
	Name  string
	State State
	Note  string
	// Failure is the failure if this file, and others with the same failure, changed.
	Failure string
	// Conflicts is the number of conflicts in the file.
	Conflicts int
	// Choices are the units that both the user and the scaffold changed, and that keep the user's form.
	Choices []string
}

func compareFiles(a, b File) int { return strings.Compare(a.Name, b.Name) }

// Result is the result of an upgrade.
type Result struct {
	// From is the release that scaffolded the project. The zero value is this program, or none that is known.
	From  Release
	Files []File
	// Stayed reports whether files of kustomizations were kept, because the kustomizations would fail otherwise.
	Stayed bool
	// Resolved maps the files in which this upgrade marked conflicts to texts with all conflicts decided for ours.
	Resolved map[string][]byte
}

// Conflicts lists the files with conflicts.
func (r *Result) Conflicts() []File {
	return slices.DeleteFunc(slices.Clone(r.Files), func(f File) bool { return f.State != Conflicting })
}

// Add adds the result of a later upgrade.
func (r *Result) Add(other *Result) {
	maps.Copy(r.Resolved, other.Resolved)
	for _, f := range other.Files {
		switch i := slices.IndexFunc(r.Files, func(have File) bool { return have.Name == f.Name }); {
		case i < 0:
			r.Files = append(r.Files, f)
		case f.State != Kept:
			r.Files[i] = f
		}
	}
	slices.SortFunc(r.Files, compareFiles)
}

// Describe describes the result for the end of a line.
func (f File) Describe() string {
	switch f.State {
	case Replaced:
		return "  (not edited)"
	case Merged:
		if len(f.Choices) > 0 {
			return fmt.Sprintf("  (your edits stay, also where the scaffold changed: %s)", strings.Join(f.Choices, ", "))
		}
		return "  (your edits stay)"
	case Removed:
		return "  (no longer part of the scaffold)"
	case Conflicting:
		if f.Note == "" {
			return fmt.Sprintf("  (conflicts: %d)", f.Conflicts)
		}
	}
	if f.Note == "" {
		return ""
	}
	return "  (" + f.Note + ")"
}
