// Package migrate brings the files of a project that an older release scaffolded up to the current scaffold, and keeps what the
// user changed.
//
// # Which release
//
// Fingerprints contain the scaffolds of kubebuilder, operator-sdk and older Operon releases as hashes of facts (see pkg/merge),
// with the names of the project taken out. The release that shares the most facts with the project's files wrote it. Single files can
// come from another release: a user may have copied them, or upgraded by hand. If no release fits better than the
// current scaffold, the project is up to date, except for files that don't fit it.
//
// # What happens to a file
//
// Scaffolded lists the files that upgrades update; everything else belongs to the user or is generated. Files merges each of them
// against its release and gives it a State with a note:
//
//   - Replaced: the file was unedited.
//   - Merged: the user's edits and the scaffold's changes are both in it.
//   - Conflicting: both changed the same unit; the file parses with either side.
//   - Kept: the merge would be a guess. The note says why: the file can't be parsed, isn't what a scaffold wrote, was edited where it can only
//     be replaced as a whole, or stays with another file that was kept (keep.go).
//
// Files that a newer scaffold moved take the user's edits with them (settings.go, entries.go). Files that are missing are created only if
// the user didn't remove them.
//
// # Checks
//
// A Verifier builds all kustomizations before and after. If one no longer builds, or objects or fields of the user would be missing, the
// manifests are kept. Code is upgraded by pkg/migrate/gocode and checked by the caller; if it would no longer compile, the caller
// keeps code and manifests.
//
// # What delete needs
//
// CreatedLines are the lines that peers' create commands insert, so that delete commands can tell them from a user's.
package migrate
