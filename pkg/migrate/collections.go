package migrate

import (
	"regexp"

	"github.com/operon-sdk/operon/pkg/project"
)

// usesCollection reports whether a role, a playbook or a test names an Ansible collection. Scaffolds of older releases require
// collections that the current one does not.
func (u *upgrader) usesCollection(name string) bool {
	reference := regexp.MustCompile(`(?:^|[^\w.])` + regexp.QuoteMeta(name) + `\b`)
	for _, dir := range []string{project.RolesDir, project.PlaybooksDir, moleculeDir} {
		names, err := u.tree.Walk(dir, nil)
		if err != nil {
			continue // the project does not have the directory
		}
		for _, file := range names {
			if text, err := u.tree.ReadFile(file); err == nil && reference.Match(text) {
				return true
			}
		}
	}
	return false
}
