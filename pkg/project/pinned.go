package project

import (
	"slices"

	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Makefile is the path of the scaffolded Makefile.
const Makefile = "Makefile"

// pinLine matches the line of the Makefile that names the release of Operon which its target install-operon installs.
var pinLine = lazyregexp.New(`(?m)^OPERON_VERSION[ \t]*[:?]?=[ \t]*(v[0-9]\S*)`)

// PinnedOperon returns the release of Operon that a project's Makefile installs: the one that scaffolded or upgraded the project last.
// It returns "" if the Makefile names no release, for example because it asks for latest.
func PinnedOperon(makefile []byte) string {
	if m := pinLine.FindSubmatch(makefile); m != nil && semver.IsValid(string(m[1])) {
		return string(m[1])
	}
	return ""
}

// RaiseOperon returns a project's Makefile with an older release of Operon replaced by a version.
func RaiseOperon(makefile []byte, version string) []byte {
	pinned := PinnedOperon(makefile)
	if pinned == "" || semver.Compare(pinned, version) >= 0 {
		return makefile
	}
	at := pinLine.Compiled().FindSubmatchIndex(makefile)
	return slices.Concat(makefile[:at[2]], []byte(version), makefile[at[3]:])
}
