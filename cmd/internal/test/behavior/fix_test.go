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
		// want are texts in files afterwards, and left is the rule of the findings that follow from the fault, or "none".
		want [][2]string
		left string
	}{
		"missing": {
			"memcached", false, edit{c, deploymentMarker, ""},
			[][2]string{
				{c, lastMarker + marker("groups=apps,resources=deployments,verbs=get;list;watch")},
				{roleFile, "  resources:\n  - deployments\n  verbs:\n  - get\n  - list\n  - watch\n"},
			},
			"unsettled",
		},
		"wildcard": {
			"memcached", true, edit{c, deploymentMarker, marker("groups=apps,resources=deployments,verbs=*")},
			[][2]string{{c, "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;"}}, "none",
		},
		"rule of the user": {
			"site", true, insertAfter(roleFile, "  "+blockEnd, "  "+wildcardRule),
			[][2]string{{roleFile, "  - {apiGroups: [\"\"], resources: [configmaps], verbs: [create, get, list, watch, patch]}\n"}}, "none",
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
			code := 0
			if test.left != "none" {
				code = 1
			}
			got := testBehavior(t, dir, code, "20s", environ, "--fix")
			if slices.ContainsFunc(got, func(finding string) bool { return !strings.HasPrefix(finding, test.left+" ") }) {
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
