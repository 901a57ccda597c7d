package ansibletool

import (
	"fmt"
	"strings"
)

// kubernetesCore is the collection with the modules for Kubernetes.
const kubernetesCore = "kubernetes.core"

// compatibility is what versions of kubernetes.core need, from the newest to the oldest. The last one is in the package ansible of Debian 12.
// The source is the changelog of the collection. It is constant.
var compatibility = []struct{ version, core, kubernetes string }{
	{"6.0.0", "2.16", "24.2"}, {"4.0.0", "2.15", "24.2"}, {"3.0.0", "2.14", "24.2"}, {"2.4.0", minCore, minKubernetes},
}

// incompatible returns what a version of a collection needs and the machine doesn't have, and how to correct that. Both are empty if
// the version works, as far as is known.
func (m *Machine) incompatible(name, version string) (problem, fix string) {
	if name != kubernetesCore || len(numbers(version)) == 0 {
		return "", ""
	}
	works := "" // the newest version that works on the machine
	isFound := false
	for _, c := range compatibility {
		var missing []string
		if m.Core != "" && !atLeast(m.Core, c.core) {
			missing = append(missing, fmt.Sprintf("ansible-core %s (found: %s)", c.core, m.Core))
		}
		if m.Kubernetes != "" && !atLeast(m.Kubernetes, c.kubernetes) {
			missing = append(missing, fmt.Sprintf("version %s of the Python package kubernetes (found: %s)", c.kubernetes, m.Kubernetes))
		}
		if len(missing) == 0 && works == "" {
			works = c.version
		}
		if !isFound && atLeast(version, c.version) {
			if isFound = true; len(missing) > 0 {
				problem = "needs " + strings.Join(missing, " and ")
			}
		}
	}
	if problem == "" {
		return "", ""
	}
	fix = "use newer versions, on Debian 12 in a virtual environment: 'apt-get install python3-venv', " +
		"'python3 -m venv ~/ansible', '. ~/ansible/bin/activate' and 'pip install ansible ansible-runner kubernetes'"
	if works != "" {
		fix = fmt.Sprintf("require an older version in %s, such as %s, or %s", RequirementsFile, works, fix)
	}
	return problem, fix
}

// oldest returns the oldest version in the range of a requirement, or "".
func (r Requirement) oldest() string {
	for part := range strings.SplitSeq(r.Version, ",") {
		found := rangePart.FindStringSubmatch(strings.TrimSpace(part))
		if found != nil && (found[1] == "" || found[1] == "==" || found[1] == ">=" || found[1] == ">") {
			return found[2]
		}
	}
	return ""
}
