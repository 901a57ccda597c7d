package catalog

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"
	"github.com/operator-framework/operator-registry/pkg/image"
	"github.com/operator-framework/operator-registry/pkg/registry"

	"github.com/operon-sdk/operon/pkg/manifest"
)

func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

var _ = flag.Bool("update", false, "rewrite the goldens")

// bundleFS is a small bundle with a CRD that it owns, one that it needs, and a dependency.
func bundleFS(version, upgrades string, more ...string) fstest.MapFS {
	files := fstest.MapFS{}
	put := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644} }
	put("manifests/newt.clusterserviceversion.yaml", `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: newt.v`+version+`
  annotations:
    capabilities: Basic Install
`+upgradeAnnotation(upgrades)+`spec:
  displayName: Newt
  description: Keeps <newts> & ponds.
  version: `+version+`
`+upgrades+`
  icon:
  - base64data: PHN2Zy8+
    mediatype: image/svg+xml
  customresourcedefinitions:
    owned:
    - kind: Newt
      name: newts.pond.example
      version: v1
    required:
    - kind: Frog
      name: frogs.pond.example
      version: v1
  relatedImages:
  - name: sidecar
    image: quay.io/pond/sidecar:1
  install:
    strategy: deployment
    spec:
      deployments:
      - name: newt
        spec:
          template:
            spec:
              containers:
              - name: manager
                image: quay.io/pond/newt:`+version+"\n")
	put("manifests/pond.example_newts.yaml", `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: newts.pond.example
spec:
  group: pond.example
  names: {kind: Newt, plural: newts}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
`)
	put("metadata/annotations.yaml", `annotations:
  operators.operatorframework.io.bundle.package.v1: newt
  operators.operatorframework.io.bundle.channels.v1: alpha,beta
  operators.operatorframework.io.bundle.channel.default.v1: alpha
`)
	put("metadata/dependencies.yaml", `dependencies:
- type: olm.package
  value:
    packageName: pond
    version: ">=1.0.0"
- type: olm.gvk
  value:
    group: water.example
    kind: Lake
    version: v1
`)
	put("metadata/properties.yaml", "properties:\n- type: olm.maxOpenShiftVersion\n  value: \"4.20\"\n")
	for i := 0; i+1 < len(more); i += 2 {
		name, old, _ := strings.Cut(more[i], "|")
		put(name, strings.Replace(string(files[name].Data), old, more[i+1], 1))
	}
	return files
}

// upgradeAnnotation takes the skipRange out of the upgrades, which is an annotation.
func upgradeAnnotation(upgrades string) string {
	if strings.Contains(upgrades, "#range") {
		return "    olm.skipRange: '>=0.1.0 <0.2.0'\n"
	}
	return ""
}

func source(t *testing.T, files fs.FS, name string) *Source {
	t.Helper()
	s, problems := ReadBundle(files, name)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if err := s.SetImage("quay.io/pond/newt-bundle:v"+s.Version.String(), false); err != nil {
		t.Fatal(err)
	}
	return s
}

func newt(t *testing.T, version, upgrades string) *Source {
	t.Helper()
	return source(t, bundleFS(version, upgrades), "bundle")
}

// add adds bundles to the catalog in files, and puts what changes into them.
func add(t *testing.T, files fstest.MapFS, o Options, sources ...*Source) (*Added, error) {
	t.Helper()
	c, problems := Load(files, "catalog")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if o.Format == "" {
		o.Format = YAML
	}
	added, err := c.Add(t.Context(), sources, o)
	if err != nil {
		return nil, err
	}
	for name, data := range added.Files {
		files[name] = &fstest.MapFile{Data: data, Mode: 0o644}
	}
	return added, nil
}

func mustAdd(t *testing.T, files fstest.MapFS, o Options, sources ...*Source) *Added {
	t.Helper()
	added, err := add(t, files, o, sources...)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

// served loads a catalog as opm does.
func served(t *testing.T, files fs.FS) *declcfg.DeclarativeConfig {
	t.Helper()
	config, err := declcfg.LoadFS(context.Background(), files)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := declcfg.ConvertToModel(*config); err != nil {
		t.Fatal(err)
	}
	return config
}

// golden compares a text with a file below testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs:\n%s", name, got)
	}
}

// TestCatalogs holds what catalogs look like, that opm serves them, that a second run changes nothing,
// and that bundles added one by one give the same as all at once.
func TestCatalogs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		o    Options
		// upgrades by version
		bundles [][2]string
	}{
		{"one", Options{}, [][2]string{{"0.1.0", ""}}},
		{"chain", Options{Channels: []string{"stable"}}, [][2]string{
			{"0.1.0", ""}, {"0.1.1", "  replaces: newt.v0.1.0"}, {"0.2.0", "  replaces: newt.v0.1.0\n  skips: [newt.v0.1.1] #range"},
		}},
		{"json", Options{Format: JSON, Channels: []string{"stable", "alpha"}}, [][2]string{{"0.1.0", ""}, {"0.2.0", "  replaces: newt.v0.1.0"}}},
		{"semver", Options{Template: Semver, Channels: []string{"candidate", "stable"}}, [][2]string{{"0.1.0", ""}, {"0.1.1", ""}, {"0.2.0", ""}, {"1.0.0", ""}, {"1.0.1", ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.o.DefaultChannel == "" && len(c.o.Channels) > 1 && c.o.Template == "" {
				c.o.DefaultChannel = "stable"
			}
			once, steps, shuffled := fstest.MapFS{}, fstest.MapFS{}, fstest.MapFS{}
			var all []*Source
			for _, b := range c.bundles {
				all = append(all, newt(t, b[0], b[1]))
				mustAdd(t, steps, c.o, newt(t, b[0], b[1]))
			}
			mustAdd(t, once, c.o, all...)
			slices.Reverse(all)
			mustAdd(t, shuffled, c.o, all...)
			if !reflect.DeepEqual(once, shuffled) {
				t.Error("the order of the bundles makes a difference")
			}
			again := mustAdd(t, once, c.o, all...)
			if len(again.Files) > 0 || len(again.Notes) > 0 {
				t.Errorf("the second run changes %v and notes %v", slices.Collect(maps.Keys(again.Files)), again.Notes)
			}
			config := served(t, once)
			if other := served(t, steps); len(other.Bundles) != len(config.Bundles) || !reflect.DeepEqual(entriesOf(config), entriesOf(other)) {
				t.Errorf("one by one gives other channels:\n%v\n%v", entriesOf(config), entriesOf(other))
			}
			for name, f := range once {
				golden(t, c.name+"/"+name, f.Data)
			}
			loaded, _ := Load(once, "catalog")
			golden(t, c.name+"/graph.txt", []byte(loaded.Text()))
			mermaid, err := loaded.Mermaid()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+"/graph.mmd", []byte(mermaid))
		})
	}
}

func entriesOf(c *declcfg.DeclarativeConfig) map[string][]declcfg.ChannelEntry {
	entries := map[string][]declcfg.ChannelEntry{}
	for _, channel := range c.Channels {
		entries[channel.Name] = channel.Entries
	}
	return entries
}

// TestRender holds that a bundle's blob is what opm render makes of its folder.
func TestRender(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../../../testdata/cases/bundle/*/expected/bundle")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, dir := range folders {
		input, err := registry.NewImageInput(image.SimpleReference("quay.io/x/y:1"), dir)
		s, problems := ReadBundle(os.DirFS(dir), "bundle")
		if err != nil {
			if len(problems) == 0 {
				t.Errorf("%s: opm refuses it: %v", dir, err)
			}
			continue
		}
		if len(problems) > 0 {
			t.Logf("%s: refused: %v", dir, problems)
			continue
		}
		_, want, err := registry.ObjectsAndPropertiesFromBundle(input.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SetImage("quay.io/x/y:1", true); err != nil {
			t.Fatal(err)
		}
		compared++
		if got := sorted(s.bundle.Properties); !slices.Equal(got, sorted(want)) {
			t.Errorf("%s: properties\n%s\nopm has\n%s", dir, got, sorted(want))
		}
		if err := s.SetImage("quay.io/x/y:1", false); err != nil {
			t.Fatal(err)
		}
		want = slices.DeleteFunc(want, func(p property.Property) bool { return p.Type == property.TypeBundleObject })
		want = append(want, property.MustBuildCSVMetadata(s.typed))
		if got := sorted(s.bundle.Properties); !slices.Equal(got, sorted(want)) {
			t.Errorf("%s: properties\n%s\nopm has\n%s", dir, got, sorted(want))
		}
	}
	if compared < 30 {
		t.Errorf("compared %d bundles only", compared)
	}
}

func sorted(props []property.Property) []string {
	var texts []string
	for _, p := range props {
		texts = append(texts, p.String())
	}
	slices.Sort(texts)
	return texts
}

// handMade is a catalog as a person writes it.
const handMade = `# Our catalog.
schema: olm.package
name: newt
defaultChannel: beta # the careful ones

---
# Everything.
schema: olm.channel
package: newt
name: beta
entries:
  # The first one.
  - name: newt.v0.1.0
    skipRange: "<0.1.0"
x-owner: pond crew
---
schema: olm.bundle
name: newt.v0.1.0
package: newt
image: quay.io/pond/newt-bundle:v0.1.0
properties: [{type: olm.package, value: {packageName: newt, version: 0.1.0}}]
---
schema: pond.notes
text: [ 1,2 ]`

// TestKeep holds that what a person wrote into a catalog stays as it is.
func TestKeep(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"newt.yaml":    {Data: []byte(handMade)},
		"README.md":    {Data: []byte("# Not a catalog\n")},
		".indexignore": {Data: []byte("*.md\n")},
	}
	added := mustAdd(t, files, Options{}, newt(t, "0.2.0", "  replaces: newt.v0.1.0"))
	if names := slices.Collect(maps.Keys(added.Files)); !slices.Equal(names, []string{"newt.yaml"}) {
		t.Errorf("changed %v", names)
	}
	golden(t, "keep/newt.yaml", files["newt.yaml"].Data)
	config := served(t, files)
	if config.Packages[0].DefaultChannel != "beta" || len(config.Channels) != 2 || len(config.Bundles) != 2 {
		t.Errorf("%v", config)
	}
	before, _, _ := strings.Cut(handMade, "# Everything.")
	_, after, _ := strings.Cut(handMade, "x-owner")
	if text := string(files["newt.yaml"].Data); !strings.HasPrefix(text, before) || !strings.Contains(text, after) || !strings.Contains(text, "entries:\n  # The first one.\n  - name: newt.v0.1.0\n    skipRange: \"<0.1.0\"\n") {
		t.Error("what a person wrote has changed")
	}

	// An entry that was edited stays, and the difference is told.
	text := strings.Replace(string(files["newt.yaml"].Data), "replaces: newt.v0.1.0", "skips: [newt.v0.1.0]", 1)
	files["newt.yaml"] = &fstest.MapFile{Data: []byte(text)}
	added = mustAdd(t, files, Options{Channels: []string{"beta"}}, newt(t, "0.2.0", "  replaces: newt.v0.1.0"))
	if len(added.Files) != 0 && len(added.Notes) != 1 {
		t.Errorf("files %v, notes %q", added.Files, added.Notes)
	}
	// The bundle itself follows its folder.
	s := newt(t, "0.2.0", "")
	if err := s.SetImage("quay.io/pond/newt-bundle:other", false); err != nil {
		t.Fatal(err)
	}
	if added = mustAdd(t, files, Options{Channels: []string{"beta"}}, s); !strings.Contains(string(added.Files["newt.yaml"]), "newt-bundle:other") {
		t.Error("the bundle stays as it was")
	}
}

// TestKeepJSON holds that fields that are not known stay in JSON too.
func TestKeepJSON(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	mustAdd(t, files, Options{Format: JSON, Channels: []string{"alpha"}}, newt(t, "0.1.0", ""))
	name := "newt/catalog.json"
	text := strings.Replace(string(files[name].Data), `"schema": "olm.channel",`, `"schema": "olm.channel", "x-owner": "pond <crew>",`, 1)
	files[name] = &fstest.MapFile{Data: []byte(text)}
	mustAdd(t, files, Options{Channels: []string{"alpha"}}, newt(t, "0.2.0", "  replaces: newt.v0.1.0"))
	if text := string(files[name].Data); !strings.Contains(text, `"x-owner": "pond <crew>"`) || !strings.Contains(text, "newt.v0.2.0") {
		t.Errorf("%s", text)
	}
	served(t, files)
	c, _ := Load(files, "catalog")
	if _, err := c.Add(t.Context(), []*Source{newt(t, "0.2.0", "  replaces: newt.v0.1.0")}, Options{Format: YAML, FormatGiven: true}); err == nil || !strings.Contains(err.Error(), "catalog/newt/catalog.json: is not written as YAML") {
		t.Errorf("%v", err)
	}
}

// TestRefuse holds that bad bundles and bad upgrades are named with their place, all at once.
func TestRefuse(t *testing.T) {
	t.Parallel()
	const csv, notes = "manifests/newt.clusterserviceversion.yaml", "metadata/annotations.yaml"
	without := func(name string) fstest.MapFS {
		files := bundleFS("0.1.0", "")
		delete(files, name)
		return files
	}
	for _, c := range []struct {
		name  string
		files fs.FS
		says  []string
	}{
		{"empty", fstest.MapFS{}, []string{"b/manifests: there is no such folder", "b/metadata: there is no such folder"}},
		{"no CSV", without(csv), []string{"b/manifests: holds no ClusterServiceVersion"}},
		{"no annotations", without(notes), []string{"b/metadata: holds no annotations"}},
		{"no CRD", without("manifests/pond.example_newts.yaml"), []string{"b/" + csv + ":", "pond.example/v1/Newt", "put the CRD's manifest"}},
		{"several", bundleFS("0.1", "  replaces: newt.v0.1\n  skips: [\"\"]", notes+"|package.v1: newt", "package.v1: \"\""), []string{notes + ":2:", "package.v1 is missing"}},
		{"versions", bundleFS("0.1", "  replaces: newt.v0.1\n  skips: [\"\"]"), []string{
			csv + ":10:", `spec.version "0.1" must be`, csv + ":11:", "spec.replaces names the bundle itself", csv + ":12:", "spec.skips[0]",
		}},
		{"range", bundleFS("0.1.0", "", csv+"|capabilities: Basic Install", "olm.skipRange: 'a to b'"), []string{csv + ":6:", "olm.skipRange \"a to b\""}},
		{"YAML", bundleFS("0.1.0", "", csv+"|spec:", "spec: ]", notes+"|annotations:", "annotations: ["), []string{"b/" + csv + ":", "b/" + notes + ":"}},
		{"type", bundleFS("0.1.0", "", csv+"|displayName: Newt", "displayName: [1]"), []string{csv + ":", "spec.displayName must be a text"}},
		{"dependency", bundleFS("0.1.0", "", "metadata/dependencies.yaml|- type: olm.package\n  value:", "- kind: olm.package\n  value:"), []string{"metadata/dependencies.yaml:2:", "dependencies[0] needs a type"}},
		{"property", bundleFS("0.1.0", "", csv+"|capabilities: Basic Install", "olm.properties: '{'"), []string{csv + ":6:", "olm.properties must be a JSON list"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, problems := ReadBundle(c.files, "b")
			for _, text := range c.says {
				if !strings.Contains(problems.Error(), text) {
					t.Errorf("does not say %q:\n%v", text, problems)
				}
			}
			if len(problems) == 0 {
				t.Error("is accepted")
			}
		})
	}
}

// TestRefuseUpgrades holds that bundles whose upgrades do not fit are refused at their CSVs.
func TestRefuseUpgrades(t *testing.T) {
	t.Parallel()
	at := "bundle/manifests/newt.clusterserviceversion.yaml:1"
	for _, c := range []struct {
		name    string
		o       Options
		sources []*Source
		says    []string
	}{
		{"two heads", Options{Channels: []string{"a"}}, []*Source{newt(t, "0.1.0", ""), newt(t, "0.2.0", "")}, []string{at, "channel a has 2 heads: newt.v0.1.0, newt.v0.2.0"}},
		{"circle", Options{Channels: []string{"a", "b"}}, []*Source{newt(t, "0.1.0", "  replaces: newt.v0.2.0"), newt(t, "0.2.0", "  replaces: newt.v0.1.0")},
			[]string{at, "channel a: the upgrades go in a circle: newt.v0.1.0 replaces newt.v0.2.0 replaces newt.v0.1.0", "channel b: "}},
		{"stranded", Options{Channels: []string{"a"}}, []*Source{newt(t, "0.1.0", ""), newt(t, "0.2.0", "  replaces: newt.v0.1.0"), newt(t, "0.3.0", "  skips: [newt.v0.2.0]")},
			[]string{"no upgrade leads from newt.v0.1.0 to the head newt.v0.3.0"}},
		{"twice", Options{}, []*Source{newt(t, "0.1.0", ""), newt(t, "0.1.0", "")}, []string{"bundle newt.v0.1.0 is given twice"}},
		{"default", Options{Channels: []string{"x", "y"}}, []*Source{newt(t, "0.1.0", "")}, []string{"name it with --default-channel"}},
		{"unknown default", Options{DefaultChannel: "z"}, []*Source{newt(t, "0.1.0", "")}, []string{`--default-channel "z" is no channel`}},
		{"semver channels", Options{Template: Semver}, []*Source{newt(t, "0.1.0", "")}, []string{"candidate, fast, stable"}},
		{"semver build", Options{Template: Semver, Channels: []string{"fast"}}, []*Source{newt(t, "0.1.0", ""), newt(t, "0.1.0+1", "")}, []string{at, "build metadata"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			_, err := add(t, files, c.o, c.sources...)
			if err == nil || len(files) > 0 {
				t.Fatal("is accepted")
			}
			for _, text := range c.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("does not say %q:\n%v", text, err)
				}
			}
		})
	}
}

// TestCheck holds that all faults of a catalog are found with their lines.
func TestCheck(t *testing.T) {
	t.Parallel()
	text := `schema: olm.package
name: Newt_
defaultChannel: gone
---
schema: olm.package
name: newt
---
schema: olm.channel
package: newt
name: a
entries:
- name: newt.v1
  skipRange: later
- name: newt.v1
- name: newt.v2
  skips: [""]
---
schema: olm.channel
package: toad
name: a
entries: []
---
schema: olm.bundle
package: newt
name: newt.v1
image: UPPER
properties:
- type: olm.package
  value: {packageName: frog, version: "1"}
---
schema: olm.bundle
package: newt
name: newt.v3
---
schema: olm.channel
name: [1]
---
name: nothing
`
	c, problems := Load(fstest.MapFS{"c.yaml": {Data: []byte(text)}, "d.json": {Data: []byte("{\"schema\": \"x\"}\n{\"schema\": }")}, "e.txt": {Data: []byte("text\n")}, "f.yaml": {Data: []byte("a: b\nschema: [\n")}}, "cat")
	all := append(problems, c.Check()...)
	for _, want := range []string{
		"cat/c.yaml:2:1: package name \"Newt_\"", "cat/c.yaml:1: package Newt_ has no channel",
		"cat/c.yaml:5: package newt has no defaultChannel; name one of its channels: a",
		"cat/c.yaml:14:3: channel a has the entry newt.v1 twice, also at cat/c.yaml:12:3", "cat/c.yaml:13:3: skipRange \"later\"",
		"cat/c.yaml:15:3: channel a has the entry newt.v2, of which there is no olm.bundle", "cat/c.yaml:16:3: skips of entry newt.v2 has an empty name",
		"cat/c.yaml:19:1: channel a is of package toad", "package newt, its olm.package property says frog", "version \"1\" is not a semantic version",
		"cat/c.yaml:31: bundle newt.v3 is in no channel", "bundle newt.v3 has no image", "newt.v3 has 0 olm.package properties",
		"cat/c.yaml:36:1: name of the blob must be a text", "cat/c.yaml:26:1: image \"UPPER\"", "cat/c.yaml:38: has no schema", "cat/d.json:2: is not valid JSON", "cat/e.txt:1: is no blob", "cat/f.yaml:",
	} {
		if !strings.Contains(all.Error(), want) {
			t.Errorf("does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(all)
	}
}

// TestSameVerdict holds, on random channels, that our verdict is operator-registry's, and that drawing
// ends whatever the channel.
func TestSameVerdict(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 2))
	verdicts := map[bool]int{}
	for range 1500 {
		n := 1 + random.IntN(5)
		name := func() string { return fmt.Sprintf("newt.v%d", random.IntN(n+1)) }
		channel := declcfg.Channel{Schema: declcfg.SchemaChannel, Name: "a", Package: "newt"}
		config := declcfg.DeclarativeConfig{Packages: []declcfg.Package{{Schema: declcfg.SchemaPackage, Name: "newt", DefaultChannel: "a"}}}
		for i := range n {
			e := declcfg.ChannelEntry{Name: fmt.Sprintf("newt.v%d", i)}
			if random.IntN(4) > 0 {
				e.Replaces = name()
			}
			for range random.IntN(3) * random.IntN(2) {
				e.Skips = append(e.Skips, name())
			}
			channel.Entries = append(channel.Entries, e)
			config.Bundles = append(config.Bundles, declcfg.Bundle{
				Schema: declcfg.SchemaBundle, Name: e.Name, Package: "newt", Image: "quay.io/a/b:" + e.Name,
				Properties: []property.Property{property.MustBuildPackage("newt", fmt.Sprintf("%d.0.0", i))},
			})
		}
		config.Channels = append(config.Channels, channel)
		var text strings.Builder
		if err := declcfg.WriteYAML(config, &text); err != nil {
			t.Fatal(err)
		}
		c, problems := Load(fstest.MapFS{"c.yaml": {Data: []byte(text.String())}}, "c")
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		_, err := declcfg.ConvertToModel(config)
		found := c.Check()
		if (err == nil) != (len(found) == 0) {
			t.Fatalf("opm says %v, we say %v of\n%s", err, found, text.String())
		}
		if err != nil && strings.Contains(found.Error(), "c: ") {
			t.Fatalf("only operator-registry finds it: %v", found)
		}
		verdicts[err == nil]++
		if heads := newGraph(&channel).heads(); err == nil && len(heads) != 1 {
			t.Fatalf("heads %v", heads)
		}
		drawn := c.Text()
		for _, e := range channel.Entries {
			if !strings.Contains(drawn, e.Name) {
				t.Fatalf("%s is not drawn:\n%s", e.Name, drawn)
			}
		}
	}
	if verdicts[true] < 50 || verdicts[false] < 50 {
		t.Errorf("verdicts %v", verdicts)
	}
}

// TestMany holds that a long history is added within a generous bound of time.
func TestMany(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	var all []*Source
	for i := range 300 {
		upgrades := ""
		if i > 0 {
			upgrades = fmt.Sprintf("  replaces: newt.v1.%d.0", i-1)
		}
		all = append(all, newt(t, fmt.Sprintf("1.%d.0", i), upgrades))
	}
	start := time.Now()
	mustAdd(t, files, Options{Channels: []string{"a", "b"}, DefaultChannel: "a"}, all...)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s", took)
	} else {
		t.Logf("300 bundles in %s", took)
	}
	if config := served(t, files); len(config.Bundles) != 300 {
		t.Errorf("%d bundles", len(config.Bundles))
	}
}

// FuzzLoad holds that no file brings the reader down.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(handMade))
	f.Add([]byte(`{"schema":"olm.channel","name":"a","entries":[{"name":"x","replaces":"x"}]}`))
	f.Add([]byte("--- {schema: olm.package, name: a}\n...\n\xef\xbb\xbf---\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, problems := Load(fstest.MapFS{"a.yaml": {Data: data}}, "c")
		_ = problems
		_ = c.Check()
		_ = c.Text()
		_ = c.Warnings()
		if _, err := c.Mermaid(); err != nil {
			t.Skip()
		}
		for _, b := range c.blobs {
			if b.start < 0 || b.end > len(data) || string(data[b.start:b.end]) != string(b.Data) {
				t.Fatalf("the text of %s is not where it is said to be", b.Position)
			}
		}
	})
}

// FuzzReadBundle holds that no bundle brings the reader down, and that what it accepts can be added.
func FuzzReadBundle(f *testing.F) {
	const csv, notes = "manifests/newt.clusterserviceversion.yaml", "metadata/annotations.yaml"
	good := bundleFS("0.2.0", "  replaces: newt.v0.1.0\n  skips: [newt.v0.1.1] #range")
	f.Add(good[csv].Data, good[notes].Data)
	f.Add([]byte("kind: ClusterServiceVersion\napiVersion: a/v1\nmetadata: {name: a}\nspec: {version: 1.0.0, skips: [1], icon: [{}]}\n"), []byte("annotations: {a: b}\nproperties: [{}]\n"))
	f.Fuzz(func(t *testing.T, c, n []byte) {
		files := bundleFS("0.2.0", "")
		files[csv], files[notes] = &fstest.MapFile{Data: c}, &fstest.MapFile{Data: n}
		s, problems := ReadBundle(files, "b")
		if s == nil {
			if len(problems) == 0 {
				t.Fatal("neither a bundle nor a problem")
			}
			return
		}
		if err := s.SetImage("quay.io/a/b:1", true); err != nil {
			return
		}
		var empty Catalog
		added, err := empty.Add(t.Context(), []*Source{s}, Options{Format: YAML, Channels: []string{"a"}})
		if err != nil {
			return
		}
		out := fstest.MapFS{}
		for name, data := range added.Files {
			out[name] = &fstest.MapFile{Data: data}
		}
		served(t, out)
	})
}

// TestMetaIsJSON keeps the blobs comparable: an added bundle is the JSON that operator-registry reads.
func TestMetaIsJSON(t *testing.T) {
	t.Parallel()
	s := newt(t, "0.1.0", "")
	meta, err := metaOf(s.bundle)
	if err != nil {
		t.Fatal(err)
	}
	var bundle declcfg.Bundle
	if err := json.Unmarshal(meta.Blob, &bundle); err != nil || bundle.Name != "newt.v0.1.0" || meta.Package != "newt" {
		t.Errorf("%v %v", bundle, err)
	}
	if s.CSV() != (manifest.Position{File: "bundle/manifests/newt.clusterserviceversion.yaml", Line: 1}) {
		t.Errorf("%v", s.CSV())
	}
}
