package output

import (
	"path/filepath"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
)

// inActions reports whether the command runs in a job of GitHub Actions, where errors and warnings are annotations.
func (p *Printer) inActions() bool { return p.Getenv("GITHUB_ACTIONS") == "true" }

// place returns a finding for programs, which open its file: the finding itself if the file exists, in the project's directory or in the
// working directory, or else one without a position, whose text contains it.
func (p *Printer) place(f diag.Finding) diag.Finding {
	placed, _ := p.locate(f)
	return placed
}

// placeInRepository is place with a path that is relative to the repository.
func (p *Printer) placeInRepository(f diag.Finding) diag.Finding {
	placed, path := p.locate(f)
	if path != "" {
		placed.File = p.repositoryPath(path, placed.File)
	}
	return placed
}

// locate is place, and returns the absolute path of the file.
func (p *Printer) locate(f diag.Finding) (placed diag.Finding, path string) {
	if f.File == "" {
		return f, ""
	}
	if p.dirs == nil {
		if root, err := p.ProjectRoot(); err == nil {
			p.dirs = append(p.dirs, root)
		}
		p.dirs = append(p.dirs, p.Dir)
	}
	for _, dir := range p.dirs {
		path := env.Absolute(dir, filepath.FromSlash(f.File))
		if info, err := p.FS.Stat(path); err == nil && info.Mode().IsRegular() {
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
func (p *Printer) repositoryPath(path, shown string) string {
	rel, err := filepath.Rel(p.Getenv("GITHUB_WORKSPACE"), path)
	if err != nil || action.IsOutside(filepath.ToSlash(rel)) {
		return shown
	}
	return filepath.ToSlash(rel)
}
