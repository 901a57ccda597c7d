//go:build unix

package behavior

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestFix corrects permissions in projects: the marker and the role, or the rules of the user in the role.
func TestFix(t *testing.T) {
	t.Parallel()
	const c = memcachedController
	for name, test := range map[string]struct {
		project  string
		thorough bool
		edit     edit
		// want are texts in files afterwards, and left are findings that follow from the fault.
		want [][2]string
		left []string
	}{
		"missing": {
			"memcached", false, edit{c, deploymentMarker, ""},
			[][2]string{
				{c, lastMarker + marker("groups=apps,resources=deployments,verbs=get;list;watch")},
				{roleFile, "  resources:\n  - deployments\n  verbs:\n  - get\n  - list\n  - watch\n"},
			},
			[]string{"unsettled"},
		},
		"wildcard": {
			"memcached", true, edit{c, deploymentMarker, marker("groups=apps,resources=deployments,verbs=*")},
			[][2]string{{c, marker("groups=apps,resources=deployments,verbs=create;get;list;watch")}}, nil,
		},
		"rule of the user": {
			"site", true, insertAfter(roleFile, "  "+blockEnd, "  "+wildcardRule),
			[][2]string{{roleFile, "  - {apiGroups: [\"\"], resources: [configmaps], verbs: [get, list, watch, patch, create]}\n"}}, nil,
		},
	} {
		if test.thorough && !*clitest.Thorough {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, environ := copyGolden(t, test.project)
			clitest.EditFile(t, dir, test.edit.file, test.edit.old, test.edit.new)
			if code, _, errOut := clitest.Run(t, dir, t.TempDir(), "generate"); code != 0 {
				t.Fatal(errOut)
			}
			got := testBehavior(t, dir, min(len(test.left), 1), "20s", environ, "--fix")
			if slices.ContainsFunc(got, func(finding string) bool { return !slices.Contains(test.left, finding) }) {
				t.Errorf("findings %q", got)
			}
			for _, want := range test.want {
				if text := clitest.ReadFile(t, filepath.Join(dir, want[0])); !strings.Contains(text, want[1]) {
					t.Errorf("%s lacks %q:\n%s", want[0], want[1], text)
				}
			}
		})
	}
}
