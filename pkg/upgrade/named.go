package upgrade

import (
	"slices"
	"strings"
)

// Named leaves in the scaffolds that a name stands for, nil where it stands for none: operator-sdk-1.42.3,
// kubebuilder-4.6, or a version alone, which is operator-sdk's from 1 to 2 and kubebuilder's from 3 on. A version
// that is not known stands for the next one of the tool that is.
func (k *Known) Named(name string) *Known {
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
		if later("3.0", version) {
			tool = "operator-sdk"
		}
	}
	nearest := ""
	for _, s := range k.Scaffolds() { // the latest first
		if s.Tool == tool && (nearest == "" || !later(version, s.Version)) {
			nearest = s.Version
		}
	}
	if nearest == "" {
		return nil
	}
	return k.Only(func(s Scaffold) bool { return s.Tool == tool && s.Version == nearest })
}

func isVersion(text string) bool {
	parts := strings.Split(text, ".")
	return len(parts) <= 3 && !slices.ContainsFunc(parts, func(p string) bool {
		return p == "" || strings.ContainsFunc(p, func(r rune) bool { return r < '0' || r > '9' })
	})
}
