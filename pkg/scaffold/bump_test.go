package scaffold

import (
	"strings"
	"testing"
)

const raisedMod = `module m.example/m

go 1.26.0

require (
	github.com/onsi/ginkgo/v2 v2.27.4
	k8s.io/api v0.37.2
)

require golang.org/x/net v0.55.0 // indirect
`

// TestRaise raises the requirements of an old go.mod, which has one block and no indirect requirements. Those of a
// project that imports nothing beyond the scaffold's modules become the scaffold's.
func TestBumpRequirements(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, require, code string
		want                string
		same                bool
	}{
		{"unused", "github.com/onsi/ginkgo v1.12.1\n\tk8s.io/api v0.18.6", "", raisedMod, true},
		{"indirect", "golang.org/x/text v0.3.0 // indirect\n\tk8s.io/api v0.18.6", "", raisedMod, true},
		{"used", "github.com/onsi/ginkgo v1.12.1\n\tk8s.io/api v0.18.6", `import "github.com/onsi/ginkgo"`,
			strings.Replace(raisedMod, "require (\n", "require (\n\tgithub.com/onsi/ginkgo v1.12.1\n", 1), false},
		{"later major version", "github.com/onsi/ginkgo v1.12.1\n\tk8s.io/api v0.18.6", `import "github.com/onsi/ginkgo/v2"`, raisedMod, true},
		{"staging", "k8s.io/api v0.36.3\n\tk8s.io/component-helpers v0.36.2\n\tk8s.io/other v0.35.0", `import (
	_ "k8s.io/component-helpers/resource"
	_ "k8s.io/other"
)`, strings.Replace(raisedMod, "0.37.2\n", "0.37.2\n\tk8s.io/component-helpers v0.37.2\n\tk8s.io/other v0.35.0\n", 1), false},
		{"later", "k8s.io/api v0.38.0", "", strings.Replace(raisedMod, "0.37.2", "0.38.0", 1), false},
	} {
		tree := modTree(map[string]string{
			"go.mod": "module m.example/m\n\ngo 1.13\n\nrequire (\n\t" + test.require + "\n)\n",
			"go.sum": "old v1.0.0 h1:x=\n", "m.go": "package m\n" + test.code,
		})
		if behind, err := NeedsBump(tree, []byte(raisedMod)); err != nil || !behind {
			t.Fatalf("%s: behind %t, %v", test.name, behind, err)
		}
		raised, err := BumpRequirements(tree, []byte(raisedMod), []byte("new v1.0.0 h1:y=\n"))
		if err != nil || !raised {
			t.Fatalf("%s: raised %t, %v", test.name, raised, err)
		}
		mod, sum := string(tree.Edits()["go.mod"]), string(tree.Edits()["go.sum"])
		if mod != test.want || strings.Contains(sum, "old") == test.same || !strings.Contains(sum, "new") {
			t.Errorf("%s:\n%s%s", test.name, mod, sum)
		}
		if behind, err := NeedsBump(tree, []byte(raisedMod)); err != nil || behind {
			t.Errorf("%s: afterwards, behind %t, %v", test.name, behind, err)
		}
	}
}
