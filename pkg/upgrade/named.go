package upgrade

import (
	"slices"
	"strings"
)

// Named returns the fingerprints of the release that a name stands for, or nil: operator-sdk-1.42.3, kubebuilder-4.6, or a
// version alone, which is operator-sdk's below 3 and kubebuilder's from 3 on. A version without fingerprints stands for
// the nearest older one of the program, or else the oldest.
func (f *Fingerprints) Named(name string) *Fingerprints {
	tool, version := "", name
	for _, t := range []string{"operator-sdk", "kubebuilder"} {
		if rest, ok := strings.CutPrefix(name, t); ok {
			tool, version = t, strings.TrimLeft(rest, "-@ ")
		}
	}
	version = strings.TrimPrefix(version, "v")
	if !isVersion(version) {
		return nil
	}
	if tool == "" {
		tool = "kubebuilder"
		if compareVersions(version, "3") < 0 {
			tool = "operator-sdk"
		}
	}
	limit := version + strings.Repeat(".99999", 2-strings.Count(version, ".")) // 4.6 includes its patch releases
	nearest := ""
	for _, r := range f.Releases() {
		if r.Tool == tool && (nearest == "" || compareVersions(r.Version, limit) <= 0) {
			nearest = r.Version
		}
	}
	if nearest == "" {
		return nil
	}
	return f.Only(func(r Release) bool { return r.Tool == tool && r.Version == nearest })
}

func isVersion(text string) bool {
	parts := strings.Split(text, ".")
	return len(parts) <= 3 && !slices.ContainsFunc(parts, func(p string) bool {
		return p == "" || strings.ContainsFunc(p, func(r rune) bool { return r < '0' || r > '9' })
	})
}
