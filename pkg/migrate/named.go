package migrate

import (
	"slices"
	"strings"
)

// Named returns the fingerprints of a release by a name such as operator-sdk-1.42.3, kubebuilder-4.6 or 4.6, or nil. A
// version alone is one of operator-sdk below 3 and of kubebuilder from 3. A patch release has the scaffold of its minor
// release, and a major version means its last minor release.
func (f *Fingerprints) Named(name string) *Fingerprints {
	tool, version := splitName(name)
	for _, release := range slices.Backward(f.Releases()) {
		same := strings.HasPrefix(version+".", release.Version+".") || strings.HasPrefix(release.Version, version+".")
		if release.Tool == tool && isVersion(version) && same {
			return f.Only(func(r Release) bool { return r.Tool == tool && r.Version == release.Version })
		}
	}
	return nil
}

// Near returns the names of the releases closest to an unsupported one: three of each possible tool.
func (f *Fingerprints) Near(name string) []string {
	const most = 3
	tool, version := splitName(name)
	var near []string
	for _, t := range tools() {
		var names []string
		before := 0
		for _, r := range f.Releases() {
			if release := r.Tool + "-" + r.Version; r.Tool == t && !slices.Contains(names, release) {
				names = append(names, release)
				if !isVersion(version) || compareVersions(r.Version, version) <= 0 {
					before = len(names)
				}
			}
		}
		if tool == "" || tool == t {
			start := max(0, min(before-1, len(names)-most))
			near = append(near, names[start:min(start+most, len(names))]...)
		}
	}
	return near
}

func tools() []string { return []string{"operator-sdk", "kubebuilder", ownTool} }

// splitName returns the tool and the version in the name of a release. The tool is "" if neither the name nor the
// version determines it.
func splitName(name string) (tool, version string) {
	for _, t := range tools() {
		if rest, ok := strings.CutPrefix(name, t); ok {
			tool, name = t, strings.TrimLeft(rest, "-@ ")
		}
	}
	version = strings.TrimPrefix(name, "v")
	switch {
	case tool != "" || !isVersion(version):
		return tool, version
	case compareVersions(version, "3") < 0:
		return "operator-sdk", version
	}
	return "kubebuilder", version
}

func isVersion(text string) bool {
	parts := strings.Split(text, ".")
	return len(parts) <= 3 && !slices.ContainsFunc(parts, func(p string) bool {
		return p == "" || strings.ContainsFunc(p, func(r rune) bool { return r < '0' || r > '9' })
	})
}
