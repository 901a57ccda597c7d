package project

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// CheckLicense validates --license.
func CheckLicense(license string) diag.Findings {
	const field = "--license"
	switch license {
	case "apache2", "mit", "copyright", "none":
		return nil
	}
	problem := "must be apache2, mit or none, or copyright for the notice alone; for another license give its header with --license-file"
	plain := strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(license))
	switch plain {
	case "apache", "apache20", "apachev2", "apachelicense20", "asl2", "al2", "apl2":
		return one(field, license, problem, "apache2")
	case "mitlicense":
		return one(field, license, problem, "mit")
	case "", "no", "false", "off":
		return one(field, license, problem, "none")
	}
	near, _ := diag.Nearest(plain, []string{"apache2", "mit", "copyright", "none"})
	return one(field, license, problem, near)
}

// CheckProjectVersion validates --project-version.
func CheckProjectVersion(version string) diag.Findings {
	if version == "" {
		return one("--project-version", "", required, ProjectVersion)
	}
	problem, hint := projectVersionProblem(version)
	if problem == "" {
		return nil
	}
	suggestion := ""
	if strings.Trim(version, "v. 0") == ProjectVersion {
		suggestion = ProjectVersion
	}
	return one("--project-version", version, problem+"; "+hint, suggestion)
}

// projectVersionProblem returns why a version of the PROJECT format is not supported, and what to do.
func projectVersionProblem(version string) (problem, hint string) {
	switch version {
	case ProjectVersion:
		return "", ""
	case "":
		return "the project version is missing", "use " + ProjectVersion
	case "1", "2":
		return "project version " + version + " is of kubebuilder v1 and v2, which current tools no longer read",
			"create a project of version 3 and move the API types and controllers over"
	case "3-alpha":
		return "project version 3-alpha was a preview of version 3",
			"convert the file with 'operon alpha config-3alpha-to-3'"
	}
	if atLeast(version+".0", 4, 0) {
		return fmt.Sprintf("project version %q is newer than this Operon", version), "it knows only " + ProjectVersion + ": update Operon, or use that"
	}
	return fmt.Sprintf("project version %q is unknown", version), "the only one in use is " + ProjectVersion
}
