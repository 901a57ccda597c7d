package migrate

import "github.com/operon-sdk/operon/pkg/project"

// isWhole reports whether an upgrade updates a file only as a whole: unless it was edited, and never if the project lacks it.
func isWhole(name string) bool {
	rule, _ := project.FileRuleOf(name)
	return rule.Upgrade == project.Whole
}

// Scaffolded reports whether upgrades update a file. Other files belong to the user once they are written, or are generated.
func Scaffolded(name string) bool {
	rule, _ := project.FileRuleOf(name)
	return rule.Upgrade != project.Never
}

// Directories of Ansible projects: an overlay of the manifests for tests, and the scenarios of Molecule.
const (
	testingKustomization = project.ConfigDir + "/testing/" + project.KustomizationFile
	moleculeDir          = "molecule"
	// requirementsFile lists the collections that roles and playbooks use.
	requirementsFile = "requirements.yml"
)
