package base

import (
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
)

func TestDisplayName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"memcached-operator": "Memcached Operator", "iron-bolt_operator.x": "Iron Bolt Operator X", "maxHeat": "Max Heat",
		"HTTPCache": "HTTP Cache", "MyDBInstance": "My DB Instance", "PodCIDRs": "Pod CIDRs", "IPv6": "IPv6", "OAuth": "OAuth",
		"X1Y2": "X1 Y2", "MaxIdleTime30s": "Max Idle Time30s", "ID": "ID", "n": "N", "--a..b--": "A B", "3scale": "3Scale", "": "", "überGröße": "Über Größe",
		"TLSSecretName": "TLS Secret Name", "NodeIDs": "Node IDs", "APIServerURL": "API Server URL",
	} {
		if got := DisplayName(name); got != want {
			t.Errorf("DisplayName(%q) = %q, want %q", name, got, want)
		}
	}
}

// api returns a kind with one field.
func api(doc, fieldDoc string, markers ...codegen.FieldMarker) codegen.API {
	return codegen.API{
		Group: "cook.example.com", Version: "v1", Kind: "Stove", Plural: "stoves", Doc: doc,
		Spec: []codegen.APIField{
			{Path: "burners", Name: "Burners", Doc: fieldDoc, Markers: markers},
			{Path: "hidden", Name: "Hidden", Doc: "Hidden is not shown."},
		},
	}
}

var shown = codegen.FieldMarker{Type: "spec", DisplayName: "Flames"}

func options(base, record []byte, apis ...codegen.API) Options {
	return Options{
		Package: "stove-operator", Name: "base.yaml", Base: base, Record: record,
		Kinds: []Kind{{"cook.example.com", "v1", "Stove"}}, APIs: apis,
	}
}

func made(t *testing.T, o Options) *Result {
	t.Helper()
	result, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// edited returns a text with one replacement and fails the test if the text lacks old.
func edited(t *testing.T, text []byte, old, replacement string) []byte {
	t.Helper()
	if !strings.Contains(string(text), old) {
		t.Fatalf("%q is not in the text:\n%s", old, text)
	}
	return []byte(strings.Replace(string(text), old, replacement, 1))
}

const extra = `      displayName: Stove
      actionDescriptors:
      - path: ignite
        displayName: Ignite
`

// TestMergeThreeWay checks owned entries that a user or the code changed.
func TestMergeThreeWay(t *testing.T) {
	t.Parallel()
	before := made(t, options(nil, nil, api("Stove cooks.", "How many.", shown)))
	for name, test := range map[string]struct {
		old, by string // the change in the base
		now     codegen.API
		prefer  Side
		want    []string
		absent  []string
		wantErr string
	}{
		"nothing changed": {"kind: Stove", "kind: Stove", api("Stove cooks.", "How many.", shown), "", []string{"description: Stove cooks."}, nil, ""},
		"code changed":    {"kind: Stove", "kind: Stove", api("Stove bakes.", "How many.", shown), "", []string{"description: Stove bakes."}, []string{"cooks"}, ""},
		"base changed": {"description: Stove cooks.", "description: By hand.", api("Stove cooks.", "More.", shown), "",
			[]string{"description: By hand.", "description: More."}, nil, ""},
		"both equal": {"description: Stove cooks.", "description: Stove bakes.", api("Stove bakes.", "How many.", shown), "", []string{"Stove bakes."}, nil, ""},
		"both": {"description: Stove cooks.", "description: By hand.", api("Stove bakes.", "How many.", shown), "", nil, nil,
			`base.yaml:13:20: spec.customresourcedefinitions.owned[0].description was edited in the base and changed in the code: base "By hand.", code "Stove bakes."`},
		"both, base":     {"description: Stove cooks.", "description: By hand.", api("Stove bakes.", "How many.", shown), InBase, []string{"By hand."}, []string{"bakes"}, ""},
		"both, code":     {"description: Stove cooks.", "description: By hand.", api("Stove bakes.", "How many.", shown), InCode, []string{"Stove bakes."}, []string{"hand"}, ""},
		"added fields":   {"      displayName: Stove\n", extra, api("Stove bakes.", "How many.", shown), "", []string{"path: ignite", "Stove bakes."}, nil, ""},
		"marker removed": {"kind: Stove", "kind: Stove", api("Stove cooks.", "How many."), "", nil, []string{"path: burners"}, ""},
		"marker removed, descriptor edited": {"displayName: Flames", "displayName: Fire", api("Stove cooks.", "How many."), "", nil, nil,
			"specDescriptors[0] was edited in the base and changed in the code"},
		"descriptor edited": {"displayName: Flames", "displayName: Fire", api("Stove bakes.", "How many.", shown), "", []string{"displayName: Fire"}, nil, ""},
		"descriptor added": {"        path: burners\n", "        path: burners\n      - path: hidden\n        value: 3\n", api("Stove bakes.", "More.", shown), "",
			[]string{"path: hidden", "value: 3", "More."}, nil, ""},
		"resource added":     {"      name: stoves.", "      resources:\n      - {kind: Job, name: by-hand, version: v1}\n      name: stoves.", api("Stove bakes.", "", shown), "", []string{"name: by-hand"}, nil, ""},
		"unknown field":      {"displayName: Flames", "displayName: Flames\n        hint: x", api("Stove bakes.", "", shown), "", []string{"hint: x"}, nil, ""},
		"description absent": {"    - description: Stove cooks.\n      display", "    - display", api("Stove cooks.", "More.", shown), "", []string{"More."}, []string{"Stove cooks"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := edited(t, before.CSV, test.old, test.by)
			o := options(base, before.Record, test.now)
			o.Prefer = test.prefer
			result, err := Generate(o)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("Generate() error = %v, want %s", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(string(result.CSV), want) {
					t.Errorf("the CSV lacks %q:\n%s", want, result.CSV)
				}
			}
			for _, absent := range test.absent {
				if strings.Contains(string(result.CSV), absent) {
					t.Errorf("the CSV contains %q:\n%s", absent, result.CSV)
				}
			}
			again := made(t, options(result.CSV, result.Record, test.now))
			if string(again.CSV) != string(result.CSV) {
				t.Errorf("the second Generate returned\n%s\nwant\n%s", again.CSV, result.CSV)
			}
		})
	}
}

// TestMergeWithoutRecord checks that a base without a record is updated from the code except for apparent edits.
func TestMergeWithoutRecord(t *testing.T) {
	t.Parallel()
	before := made(t, options(nil, nil, api("Stove cooks.", "How many.", shown)))
	result := made(t, options(before.CSV, nil, api("Stove bakes.", "More.", shown)))
	if text := string(result.CSV); !strings.Contains(text, "Stove bakes.") || !strings.Contains(text, "More.") {
		t.Errorf("the CSV was not updated from the code:\n%s", text)
	}
	if len(result.Notes) != 1 || !strings.Contains(result.Notes[0], `description, which was "Stove cooks."`) {
		t.Errorf("Notes = %q", result.Notes)
	}
	result = made(t, options(edited(t, before.CSV, "displayName: Stove\n", "displayName: My Stove\n"), nil, api("Stove bakes.", "More.", shown)))
	if text := string(result.CSV); !strings.Contains(text, "Stove bakes.") || !strings.Contains(text, "My Stove") {
		t.Errorf("the edited name was not kept, or the description not updated:\n%s", text)
	}
	result = made(t, options(edited(t, before.CSV, "      displayName: Stove\n", extra), nil, api("Stove bakes.", "More.", shown)))
	if text := string(result.CSV); !strings.Contains(text, "Stove cooks.") || !strings.Contains(text, "Ignite") {
		t.Errorf("the edited entry was not kept:\n%s", text)
	}
	if len(result.Notes) != 1 || !strings.Contains(result.Notes[0], "kept values of the base") {
		t.Errorf("Notes = %q", result.Notes)
	}
}

// TestDeletedKind checks that the entry of a deleted kind is removed unless it was edited.
func TestDeletedKind(t *testing.T) {
	t.Parallel()
	before := made(t, options(nil, nil, api("Stove cooks.", "How many.", shown)))
	for text, stays := range map[string]bool{"Stove cooks.": false, "By hand.": true} {
		o := options(edited(t, before.CSV, "Stove cooks.", text), before.Record)
		o.Kinds = nil
		result := made(t, o)
		if got := strings.Contains(string(result.CSV), "kind: Stove"); got != stays {
			t.Errorf("%s: entry kept = %t\n%s", text, got, result.CSV)
		}
		if string(result.Record) != "owned: []\n" {
			t.Errorf("Record = %q", result.Record)
		}
		o.Known = []Kind{{"cook.example.com", "v1", "Stove"}} // the type is missing in the code
		if result = made(t, o); !strings.Contains(string(result.CSV), "kind: Stove") || result.Record != nil {
			t.Errorf("a known kind was removed:\n%s", result.CSV)
		}
	}
}

// TestOwnedOrder checks the order of entries that are only in the base.
func TestOwnedOrder(t *testing.T) {
	t.Parallel()
	base := []byte(`apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: stove-operator.v0.1.0}
spec:
  customresourcedefinitions:
    owned:
    - {kind: Stove, name: gooses.cook.example.com, version: v1}
    - {kind: A, name: as.cook.example.com, version: v1}
    - {kind: Stove, name: stoves.cook.example.com, version: v1beta1}
`)
	stove := api("Stove cooks.", "")
	two := 2
	stove.Markers = []codegen.KindMarker{{Order: &two}}
	var csv struct {
		Spec struct {
			CustomResourceDefinitions struct {
				Owned []struct{ Kind, Name, Version string }
			}
		}
	}
	if err := sigsyaml.Unmarshal(made(t, options(base, nil, stove)).CSV, &csv); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range csv.Spec.CustomResourceDefinitions.Owned {
		got = append(got, one.Name+"/"+one.Version)
	}
	if want := "as.cook.example.com/v1 stoves.cook.example.com/v1 stoves.cook.example.com/v1beta1"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestKeepsUnknownAndComments checks that unknown fields and comments are kept.
func TestKeepsUnknownAndComments(t *testing.T) {
	t.Parallel()
	base := `# Our operator.

apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: stove-operator.v1.0.0
  future: 1
spec:
  # Ask Ana before changing this.
  displayName: Stoves # the brand
  minKubeversion: 1.29.0
  futureField: {deep: [1, 100000000]}
  links: []
  maintainers:
  # Ana is on call.
  - name: Ana
    email: ana@example.com
  install:
    strategy: deployment
    spec:
      deployments:
      - name: a
        hint: x # deep
        spec:
          selector: {}
          template: {spec: {containers: [{name: c, image: i, color: red}]}}
# The end.
`
	got := string(made(t, options([]byte(base), nil)).CSV)
	for _, want := range []string{
		"# Our operator.\napiVersion:", "  future: 1\n", "  # Ask Ana before changing this.\n  displayName: Stoves # the brand\n", "  minKubeVersion: 1.29.0\n",
		"  futureField:\n    deep:\n    - 1\n    - 100000000\n", "  # Ana is on call.\n  - email: ana@example.com\n    name: Ana\n", "      - hint: x # deep\n", "color: red\n", "# The end.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if again := string(made(t, options([]byte(got), nil)).CSV); again != got {
		t.Errorf("the second Generate returned\n%s\nwant\n%s", again, got)
	}
}

// TestProblems checks the problems of invalid bases.
func TestProblems(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n"
	for text, want := range map[string]string{
		head + "spec:\n  displayName: [ x\n  icon:\n":                "base.yaml:4: ",
		head + "spec:\n  keywords: x\n  replaces: [1]\n":             "base.yaml:4:13: spec.keywords: must be a list, not string\nbase.yaml:5:13: spec.replaces: must be a string, not array",
		head + "spec:\n  maintainers:\n  - name: a\n  - name: 7.0\n": "base.yaml:6:11: spec.maintainers.name: must be a string",
		head + "spec:\n  maturity: yes\n  minKubeVersion: 1.20\n":    "base.yaml:4:13: spec.maturity: must be a string, not bool; quote it\nbase.yaml:5:19: spec.minKubeVersion: must be a string",
		head + "spec:\n  version: one\n":                             "base.yaml:4:12: spec.version: ",
		head + "spec:\n  maturity: a\n  maturity: b\n":               "base.yaml:5:3: duplicate key maturity, first on line 4",
		head + "---\n" + head:                                        "base.yaml:4:1: unexpected second object",
		"kind: ConfigMap\n":                                          "base.yaml:1:7: the file must contain an object of kind ClusterServiceVersion",
		"- a\n":                                                      "base.yaml:1:1: the file must contain an object",
		"":                                                           "base.yaml: the file is empty",
		"# nothing\n---\n":                                           "base.yaml: the file is empty",
		head + "spec:\n\tdisplayName: x\n":                           "base.yaml:4: ",
		head + "spec: 3\n":                                           "base.yaml:3:7: spec: must be a mapping, not number",
		"\x00\x01\x02":                                               "base.yaml: ",
		head + "spec:\n  apiservicedefinitions:\n    owned:\n    - name: a\n    - group: yes\n": "base.yaml:7:14: spec.apiservicedefinitions.owned.group: must be a string",
	} {
		_, err := Generate(options([]byte(text), nil))
		if problems, ok := err.(diag.Findings); !ok || !strings.HasPrefix(problems.Error(), want) {
			t.Errorf("error for %q = %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"\uFEFF" + head + "spec: {displayName: x}\n", strings.ReplaceAll(head+"spec: {displayName: x}\n", "\n", "\r\n"), "---\n" + head + "spec: {displayName: x}\n---\n", "# x\n---\n---\n" + head + "spec: {displayName: x}\n"} {
		if result := made(t, options([]byte(text), nil)); !strings.Contains(string(result.CSV), "displayName: x\n") {
			t.Errorf("%q gives %s", text, result.CSV)
		}
	}
}

// TestNumbersAsTexts checks that numbers are accepted as texts if conversion does not change them.
func TestNumbersAsTexts(t *testing.T) {
	t.Parallel()
	csv := string(made(t, options([]byte(`kind: ClusterServiceVersion
metadata:
  annotations: {size: 5, open: true}
spec:
  future: 1
  keywords: [1, a]
  maturity: 2
  minKubeVersion: 1.29
`), nil)).CSV)
	for _, want := range []string{"    open: \"true\"\n    size: \"5\"\n", "  future: 1\n", "  - \"1\"\n  - a\n", "  maturity: \"2\"\n", "  minKubeVersion: \"1.29\"\n"} {
		if !strings.Contains(csv, want) {
			t.Errorf("%q is missing in\n%s", want, csv)
		}
	}
}

// TestSamePathTwice checks that two fields of one path are no conflict if only the code changed.
func TestSamePathTwice(t *testing.T) {
	t.Parallel()
	both := func(markers ...codegen.FieldMarker) codegen.API {
		twice := api("Stove cooks.", "How many.", markers...)
		twice.Spec = append(twice.Spec, twice.Spec[0], twice.Spec[0])
		return twice
	}
	before := made(t, options(nil, nil, both(shown)))
	after := string(made(t, options(before.CSV, nil, both(codegen.FieldMarker{Type: "spec"}))).CSV)
	if n := strings.Count(after, "path: "+both().Spec[0].Path+"\n"); n != 3 {
		t.Errorf("%d descriptors in\n%s", n, after)
	}
	fewer := both(codegen.FieldMarker{Type: "spec"})
	fewer.Spec = fewer.Spec[:1]
	if _, err := Generate(options(before.CSV, nil, fewer)); err != nil {
		t.Error(err)
	}
}

// TestMetadata checks the format of metadata files and that only their fields are set.
func TestMetadata(t *testing.T) {
	t.Parallel()
	m, icon, err := ParseMetadata("m.yaml", []byte("displayName: D\nprovider: {name: P}\nkeywords: [a, b]\nmaintainers:\n- {name: Ana, email: ana@example.com}\nicon: logo.svg\n"))
	if err != nil || icon != "logo.svg" {
		t.Fatal(icon, err)
	}
	o := options(nil, nil)
	o.Metadata = m
	text := string(made(t, o).CSV)
	for _, want := range []string{"displayName: D\n", "  provider:\n    name: P\n  version", "- a\n  - b\n", "email: ana@example.com", "description: Stove Operator description. TODO.", "url: https://stove-operator.domain"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for text, want := range map[string]string{
		"displayname: x\nkeyword: y\n": "m.yaml:1: field displayname not found\nm.yaml:2: field keyword not found",
		"keywords: 3\n":                "m.yaml:1: cannot unmarshal",
		"a: [\n":                       "m.yaml:2: ",
		"maintainers:\n- {name: a, email: b}\n- {email: a@b}\n":   "m.yaml:2:20: maintainers[0].email must be an e-mail address\nm.yaml:3:3: maintainers[1].name is missing",
		"links:\n- {name: a, url: b}\nminKubeVersion: \"1.29\"\n": "m.yaml:2:18: links[0].url must be a URL such as https://example.com\nm.yaml:3:17: minKubeVersion must have the form 1.29.0",
	} {
		if _, _, err := ParseMetadata("m.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error for %q = %v, want %s", text, err, want)
		}
	}
}

// FuzzRead checks that Generate does not panic on any base and can read its own output.
func FuzzRead(f *testing.F) {
	f.Add([]byte("kind: ClusterServiceVersion\nspec:\n  displayName: x # y\n  # z\n  keywords: [a]\n"))
	f.Add([]byte("# a\nkind: ClusterServiceVersion\nmetadata: {name: stove-operator.vX.Y.Z}\nspec: {customresourcedefinitions: {owned: [{kind: Stove, name: stoves.cook.example.com, version: v1, x: y}, 3]}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		result, err := Generate(options(data, nil, api("Stove cooks.", "How many.", shown)))
		if err != nil {
			return
		}
		again, err := Generate(options(result.CSV, nil, api("Stove cooks.", "How many.", shown)))
		if err != nil {
			t.Fatalf("%v\n%q\n%s", err, data, result.CSV)
		}
		if string(again.CSV) != string(result.CSV) {
			t.Fatalf("the second Generate for %q returned\n%s\nwant\n%s", data, result.CSV, again.CSV)
		}
	})
}
