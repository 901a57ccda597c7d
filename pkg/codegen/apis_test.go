package codegen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/diag"
)

// apisOf reads the kinds of a module in a txtar archive.
func apisOf(t *testing.T, archive, dir string) ([]API, diag.Findings, error) {
	t.Helper()
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return APIs(context.Background(), APIOptions{Env: os.Environ(), Root: root, Dir: dir})
}

// oddShapes contains fields of all kinds of types.
const oddShapes = `-- go.mod --
module example.org/odd
-- api/v1/doc.go --
// +groupName=odd.example.org
package v1
-- api/v1/odd_types.go --
package v1

import (
	"time"

	. "example.org/odd/api/dots"
	"example.org/odd/other"
	renamed "example.org/odd/other/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type (
	// Odd is one of a group of types.
	//
	// +kubebuilder:resource:path=oddities
	// +operator-sdk:csv:customresourcedefinitions:order=3,displayName="Odd",resources={{Pod,v1,""}}
	Odd struct {
		metav1.TypeMeta ` + "`json:\",inline\"`" + `
		Spec, Ignored OddSpec ` + "`json:\"spec\"`" + `
		Status *OddStatus ` + "`json:\"status,omitempty\"`" + `
	}
	notExported struct{ Spec OddSpec ` + "`json:\"spec\"`" + ` }
	Alias = OddSpec
)

type OddSpec struct {
	A, B int ` + "`json:\"a\"`" + `
	// Text.
	// TODO: more
	Pointers **[]*Leaf ` + "`json:\"pointers\"`" + `
	Three [][2][]Leaf ` + "`json:\"three\"`" + `
	Leaf
	*renamed.Deep
	Boxed Box[other.Thing] ` + "`json:\"boxed\"`" + `
	Pair Two[Leaf, other.Thing] ` + "`json:\"pair\"`" + `
	Dotted Dot ` + "`json:\"dotted\"`" + `
	Time metav1.Time ` + "`json:\"time\"`" + `
	Wait time.Duration ` + "`json:\"wait\"`" + `
	Func func(Leaf) Leaf ` + "`json:\"func\"`" + `
	Chan chan Leaf ` + "`json:\"chan\"`" + `
	Any any ` + "`json:\"any\"`" + `
	Missing Nowhere ` + "`json:\"missing\"`" + `
	Map map[string][]Leaf ` + "`json:\"map\"`" + `
	Loop *Loop ` + "`json:\"loop\"`" + `
	Nameless []struct {
		// X of it.
		// +operator-sdk:csv:customresourcedefinitions:type=spec
		// TODO: hidden
		X int ` + "`json:\"x\"`" + `
	} ` + "`json:\"nameless\"`" + `
	Strings Names ` + "`json:\"strings\"`" + `
	Über int
	Round Round ` + "`json:\"round\"`" + `
	_ int
	lower int
	Gone string ` + "`json:\"-\"`" + `
	Comma string ` + "`json:\",omitempty\"`" + `
}

type Names []Leaf

type (
	Round  Around
	Around Round
)

type Leaf struct {
	// +operator-sdk:csv:customresourcedefinitions:type=spec,path="another",xDescriptors={"a","b"}
	Green bool ` + "`json:\"green\"`" + `
}

type Box[T any] struct {
	In T ` + "`json:\"in\"`" + `
}

type Two[A, B any] struct{ Both int ` + "`json:\"both\"`" + ` }

type Loop struct {
	Through *Through ` + "`json:\"through\"`" + `
}

type Through struct {
	Back []Loop ` + "`json:\"back\"`" + `
}

type OddStatus struct {
	Phase string ` + "`json:\"phase\"`" + `
}
-- api/dots/dots.go --
package dots

type Dot struct{ Round bool ` + "`json:\"round\"`" + ` }
-- other/thing.go --
package other

type Thing struct{ Weight int ` + "`json:\"weight\"`" + ` }
-- other/v1/deep.go --
package v1

type Deep struct{ Down int ` + "`json:\"down\"`" + ` }
-- broken/broken.go --
package broken

this file is not read
`

// TestAPIShapes checks the fields in spec and status, with all kinds of types.
func TestAPIShapes(t *testing.T) {
	t.Parallel()
	apis, warnings, err := apisOf(t, oddShapes, "api")
	if err != nil {
		t.Fatal(err)
	}
	var odd *API
	for i, api := range apis {
		if api.Kind == "Odd" {
			odd = &apis[i]
		}
		if api.Kind == "notExported" {
			t.Error("kinds contain notExported, which is not exported")
		}
	}
	if odd == nil || odd.Group != "odd.example.org" || odd.Version != "v1" || odd.Plural != "oddities" ||
		odd.Doc != "Odd is one of a group of types." {
		t.Fatalf("%+v", odd)
	}
	if len(odd.Markers) != 1 || *odd.Markers[0].Order != 3 || odd.Markers[0].Position.Line != 16 ||
		fmt.Sprint(odd.Markers[0].Resources) != "[[Pod v1 ]]" {
		t.Errorf("%+v", odd.Markers)
	}
	var paths []string
	for _, f := range odd.Spec {
		paths = append(paths, f.Path)
	}
	want := "a a pointers three boxed pair dotted time wait func chan any missing map loop nameless strings Über round Comma " +
		"pointers[0].green three[0][0][0].green green down boxed.in boxed.weight pair.both pair.green pair.weight " +
		"dotted.round loop.through nameless[0].x loop.through.back"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(odd.Status) != 1 || odd.Status[0].Path != "phase" {
		t.Errorf("status: %+v", odd.Status)
	}
	for _, f := range odd.Spec {
		switch f.Path {
		case "green":
			if len(f.Markers) != 1 || f.Markers[0].Path != "another" || len(f.Markers[0].XDescriptors) != 2 {
				t.Errorf("%+v", f)
			}
		case "pointers":
			if f.Doc != "Text." {
				t.Errorf("%+v", f)
			}
		case "nameless[0].x":
			if f.Doc != "X of it." || len(f.Markers) != 1 {
				t.Errorf("%+v", f)
			}
		}
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0].Error(), "values of map map") ||
		!strings.Contains(warnings[1].Error(), "type Names is not a struct") {
		t.Errorf("warnings: %v", warnings)
	}
}

// TestAPIFindings expects all problems at once, with their positions.
func TestAPIFindings(t *testing.T) {
	t.Parallel()
	_, _, err := apisOf(t, `-- go.mod --
module example.org/odd
-- api/v1/types.go --
// +groupName=odd.example.org
package v1

// +operator-sdk:csv:customresourcedefinitions:resources={{Pod}},order=1
type Odd struct {
	Spec OddSpec `+"`json:spec`"+`
}

type OddSpec struct {
	A int `+"`json:\"a\" yaml`"+`
}
`, "api")
	var findings diag.Findings
	if !errors.As(err, &findings) {
		t.Fatal(err)
	}
	want := "api/v1/types.go:4:4: marker +operator-sdk:csv:customresourcedefinitions: resource {Pod} has no version; write {Kind,version} or {Kind,version,name}\n" +
		"api/v1/types.go:6:15: struct tag `json:spec`: must consist of pairs such as json:\"name\"\n" +
		"api/v1/types.go:10:8: struct tag `json:\"a\" yaml`: must consist of pairs such as json:\"name\""
	if findings.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", findings, want)
	}
}

// TestAPIMarkerFindings checks the errors for markers with invalid arguments.
func TestAPIMarkerFindings(t *testing.T) {
	t.Parallel()
	source := func(marker string) string {
		return "-- go.mod --\nmodule example.org/odd\n-- api/v1/types.go --\n// +groupName=odd.example.org\npackage v1\n\ntype OddSpec struct {\n\t// " +
			marker + "\n\tA int `json:\"a\"`\n}\n"
	}
	for marker, want := range map[string]string{
		`+operator-sdk:csv:customresourcedefinitions:type=spec,order=x`:                 "api/v1/types.go:5:",
		`+operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors=3`:          "",
		`+operator-sdk:csv:customresourcedefinitions:type=spec,displayName="open`:       "api/v1/types.go:5:",
		`+operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={"a"`:       "api/v1/types.go:5:",
		`+operator-sdk:csv:customresourcedefinitions:type=spec,displayName=two words`:   "",
		`+operator-sdk:csv:customresourcedefinitions:type=spec,type=status,order=1,,`:   "api/v1/types.go:5:",
		`+operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors=urn:alm`:    "api/v1/types.go:5:75: marker +operator-sdk:csv:customresourcedefinitions: a value with a colon must be quoted",
		"+operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors=`a:\"`":     "",
		`+operator-sdk:csv:customresourcedefinitions:type=spec,displayName="\":"`:       "",
		`+operator-sdk:csv:customresourcedefinitions:type=spec,displayname="x",order=y`: `api/v1/types.go:5:59: marker +operator-sdk:csv:customresourcedefinitions: unknown argument "displayname"; did you mean "displayName"?`,
	} {
		_, _, err := apisOf(t, source(marker), "api")
		var findings diag.Findings
		got := fmt.Sprint(err)
		if want == "" != (err == nil) || err != nil && (!errors.As(err, &findings) || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: got %v, want %s", marker, err, want)
		}
	}
}

// TestAPIRoots checks which field is the spec of a kind, and the plurals.
func TestAPIRoots(t *testing.T) {
	t.Parallel()
	apis, _, err := apisOf(t, `-- go.mod --
module example.org/odd
-- api/v1/types.go --
// +groupName=odd.example.org
package v1

type (
	DNS struct {
		Spec Spec `+"`json:\"spec\"`"+`
	}
	// Inside has no spec of its own.
	Inside struct {
		*DNS `+"`json:\",inline\"`"+`
		Inner `+"`json:\"inner\"`"+`
	}
	// Likewise is a DNS.
	Likewise DNS
	// Over has another.
	Over struct {
		Spec Inner `+"`json:\"spec\"`"+`
		DNS
	}
	Inner struct {
		Spec int `+"`json:\"spec\"`"+`
	}
	Spec struct {
		Zone string `+"`json:\"zone\"`"+`
	}
	Round struct{ Around }
	Around struct{ Round }
	Text string
)
`, "api")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, api := range apis {
		line := api.Kind + " " + api.Plural
		for _, field := range api.Spec {
			line += " " + field.Path
		}
		got = append(got, line)
	}
	want := "Around arounds, DNS dnses zone, Inner inners, Inside insides zone, Likewise likewises zone, Over overs spec, Round rounds, Spec specs"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestAPIMissingImports expects an error for missing packages of the project, and none for packages of other modules.
func TestAPIMissingImports(t *testing.T) {
	t.Parallel()
	_, _, err := apisOf(t, `-- go.mod --
module example.org/odd

require example.org/odd/external v1.0.0
-- api/v1/types.go --
// +groupName=odd.example.org
package v1

import (
	"fmt"

	_ "example.org/odd/external/deep"
	_ "example.org/oddity"
	gone "example.org/odd/pkg/gone"
	_ "example.org/odd/testdata/there"
	_ "k8s.io/api/core/v1"
)
-- testdata/there/there.go --
package there
`, "api")
	if want := "api/v1/types.go:9:7: package example.org/odd/pkg/gone not found in the project"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestAPIUnknownMarkers expects a warning about a misspelled marker.
func TestAPIUnknownMarkers(t *testing.T) {
	t.Parallel()
	_, warnings, err := apisOf(t, "-- go.mod --\nmodule example.org/odd\n-- api/v1/types.go --\n// +groupName=odd.example.org\npackage v1\n\n// +operator-sdk:csv:customresourcedefintions:displayName=\"x\"\ntype Odd struct{}\n", "api")
	if err != nil || len(warnings) != 1 || warnings[0].Line != 4 ||
		!strings.Contains(warnings[0].Problem, "unknown marker +operator-sdk:csv:customresourcedefintions:displayName") {
		t.Error(warnings, err)
	}
}

// TestAPIClique limits the fields of types that all refer to each other.
func TestAPIClique(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("-- go.mod --\nmodule example.org/odd\n-- api/v1/types.go --\n// +groupName=odd.example.org\npackage v1\n\ntype Odd struct { Spec T0 `json:\"spec\"` }\n")
	for i := range 16 {
		fmt.Fprintf(&b, "type T%d struct {\n", i)
		for j := range 16 {
			fmt.Fprintf(&b, "\tF%d *T%d\n", j, j)
		}
		b.WriteString("}\n")
	}
	apis, warnings, err := apisOf(t, b.String(), "api")
	if err != nil || len(warnings) == 0 || !strings.Contains(warnings[0].Problem, "more than 20000 fields") {
		t.Fatal(warnings, err)
	}
	if n := len(apis[0].Spec); n < maxFields || n > maxFields+100 {
		t.Errorf("%d fields, want about %d", n, maxFields)
	}
}

// FuzzAPIs expects no source to make APIs panic or run forever.
func FuzzAPIs(f *testing.F) {
	f.Add(`+operator-sdk:csv:customresourcedefinitions:type=spec,displayName="x",xDescriptors={"a","b"},order=-3`, "[]*map[string]Odd", `json:"a,inline"`)
	f.Add(`+operator-sdk:csv:customresourcedefinitions:resources={{Pod,v1},{}}`, "struct{ A Odd }", `json:",inline"`)
	f.Fuzz(func(t *testing.T, marker, typ, tag string) {
		source := "// +groupName=a.b\npackage v1\n\n// " + marker + "\ntype Odd struct {\n\t// " + marker +
			"\n\tSpec " + typ + " `" + tag + " json:\"spec\"`\n\tOther *Odd `" + tag + "`\n}\n"
		_, _, err := APIs(context.Background(), APIOptions{Env: os.Environ(), Root: t.TempDir(), Dir: "api", Overlay: map[string][]byte{
			"go.mod": []byte("module example.org/odd\n"), "api/v1/types.go": []byte(source),
		}})
		var findings diag.Findings
		if err != nil && !errors.As(err, &findings) {
			t.Errorf("%q: %v", source, err)
		}
	})
}
