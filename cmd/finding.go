package cmd

import (
	"path/filepath"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// inActions reports whether the command runs in a job of GitHub Actions, where errors and warnings are annotations.
func (a *app) inActions() bool { return a.Getenv("GITHUB_ACTIONS") == "true" }

// place returns a finding for programs, which open its file: the finding itself if the file exists, in the project's directory or in the
// working directory, or else one without a position, whose text contains it.
func (a *app) place(f diag.Finding) diag.Finding {
	placed, _ := a.locate(f)
	return placed
}

// placeInRepository is place with a path that is relative to the repository.
func (a *app) placeInRepository(f diag.Finding) diag.Finding {
	placed, path := a.locate(f)
	if path != "" {
		placed.File = a.repositoryPath(path, placed.File)
	}
	return placed
}

// locate is place, and returns the absolute path of the file.
func (a *app) locate(f diag.Finding) (placed diag.Finding, path string) {
	if f.File == "" {
		return f, ""
	}
	if a.findingDirs == nil {
		if root, err := project.FindRoot(a.FS, a.Dir); err == nil {
			a.findingDirs = append(a.findingDirs, root)
		}
		a.findingDirs = append(a.findingDirs, a.Dir)
	}
	for _, dir := range a.findingDirs {
		path := absolute(dir, filepath.FromSlash(f.File))
		if info, err := a.FS.Stat(path); err == nil && info.Mode().IsRegular() {
			return f, path
		}
	}
	placed = diag.Finding{Severity: f.Severity, Problem: f.Full(), Related: f.Related, Err: f.Err}
	if !f.Long { // its text contains the rule
		placed.Rule = f.Rule
	}
	return placed, ""
}

// repositoryPath returns a path relative to the repository that a CI job has checked out, or shown if that is
// unknown.
func (a *app) repositoryPath(path, shown string) string {
	rel, err := filepath.Rel(a.Getenv("GITHUB_WORKSPACE"), path)
	if err != nil || action.IsOutside(filepath.ToSlash(rel)) {
		return shown
	}
	return filepath.ToSlash(rel)
}
