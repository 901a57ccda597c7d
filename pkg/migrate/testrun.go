package migrate

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

var (
	testPullPolicy = lazyregexp.New(`(?m)^ *- path: pull_policy/\w+\.yaml\r?\n`)
	testPatches    = lazyregexp.New(`(?m)^patches:\r?\n((?:[ -].*\n)*)`)
	testImage      = lazyregexp.New(`(?m)^( *- name: testing\r?\n +newName: ).*(?:\r?\n +newTag: .*)?`)
)

// undoTestRun reverts what a run of Molecule has written to the kustomization of the tests of an older scaffold: the image and the
// pull policy. Current scenarios pass both without changing files.
func (u *upgrader) undoTestRun() {
	name := testingKustomization
	text := string(u.ours[name])
	if !testPullPolicy.MatchString(text) && !testImage.MatchString(text) || u.unedited(name) {
		return
	}
	text = testPullPolicy.ReplaceAllString(text, "")
	text = testPatches.ReplaceAllStringFunc(text, func(list string) string {
		if strings.Count(list, "\n") > 1 {
			return list
		}
		return ""
	})
	text = testImage.ReplaceAllString(text, "${1}testing-operator")
	u.testRun, u.ours[name] = u.ours[name], []byte(text)
}
