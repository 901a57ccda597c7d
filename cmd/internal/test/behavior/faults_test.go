//go:build unix

package behavior

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// A fault is a change of a golden project.
type fault struct {
	edits []edit
	// want are findings that must be there.
	want []string
}

// An edit replaces a text in a file of the project.
type edit struct{ file, old, new string }

// insertBefore returns the edit that inserts a text before another one.
func insertBefore(file, place, text string) edit { return edit{file, place, text + place} }

// insertAfter returns the edit that inserts a text after another one.
func insertAfter(file, place, text string) edit { return edit{file, place, place + text} }

// commonFaults are the faults that are tested without -thorough.
var commonFaults = []string{"memcached/update without a comparison", "memcached/heartbeat in an object that nobody owns", "memcached/several"}

// TestFaults finds each fault.
func TestFaults(t *testing.T) {
	t.Parallel()
	for project, faults := range map[string]map[string]fault{
		"memcached": memcachedFaults(), "ssa": ssaFaults(), "multigroup": multigroupFaults(), "shop": shopFaults(), "site": siteFaults(),
	} {
		for _, name := range slices.Sorted(maps.Keys(faults)) {
			if !*clitest.Thorough && !slices.Contains(commonFaults, project+"/"+name) {
				continue
			}
			t.Run(project+"/"+name, func(t *testing.T) {
				t.Parallel()
				findFault(t, project, faults[name])
			})
		}
	}
}

func findFault(t *testing.T, project string, f fault) {
	dir, environ := copyGolden(t, project)
	for _, e := range f.edits {
		clitest.EditFile(t, dir, e.file, e.old, e.new)
	}
	if code, _, errOut := clitest.Run(t, dir, t.TempDir(), "generate"); code != 0 {
		t.Fatal(errOut)
	}
	timeout := "20s"
	if project == "site" {
		timeout = "2m" // on a busy machine, one run of Ansible takes longer than any of these operators
	}
	got := testBehavior(t, dir, 1, timeout, environ)
	t.Logf("findings %q", got)
	for _, want := range f.want {
		if !slices.ContainsFunc(got, func(finding string) bool { return strings.HasPrefix(finding, want) }) {
			t.Errorf("findings %q lack %q", got, want)
		}
	}
}

// marker returns an RBAC marker.
func marker(text string) string { return "// +kubebuilder:rbac:" + text + "\n" }

// returned returns a statement that ends a function of type (ctrl.Result, error) with the error of an expression.
func returned(expression string) string {
	return "\tif err := " + expression + "; err != nil {\n\t\treturn ctrl.Result{}, err\n\t}\n"
}
