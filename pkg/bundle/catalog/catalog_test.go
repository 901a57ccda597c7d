package catalog

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
)

func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

var _ = flag.Bool("update", false, "rewrite the goldens")

// add adds bundles to the catalog in files and updates files.
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

// served loads a catalog like opm.
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
		t.Errorf("content differs from %s:\n%s", name, got)
	}
}

// TestCatalogs compares catalogs with golden files and checks that opm serves them, that a second run changes nothing, and
// that adding bundles one by one has the same result as adding them together.
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
				t.Error("the result depends on the order of the bundles")
			}
			again := mustAdd(t, once, c.o, all...)
			if len(again.Files) > 0 || len(again.Notes) > 0 {
				t.Errorf("the second run changed %v and noted %v", slices.Collect(maps.Keys(again.Files)), again.Notes)
			}
			config := served(t, once)
			if other := served(t, steps); len(other.Bundles) != len(config.Bundles) || !reflect.DeepEqual(entriesOf(config), entriesOf(other)) {
				t.Errorf("adding one by one gave other channels:\n%v\n%v", entriesOf(config), entriesOf(other))
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

// handMade is a handwritten catalog.
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

// TestKeep checks that handwritten content is kept.
func TestKeep(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"newt.yaml":    {Data: []byte(handMade)},
		"README.md":    {Data: []byte("# Not a catalog\n")},
		".indexignore": {Data: []byte("*.md\n")},
	}
	added := mustAdd(t, files, Options{}, newt(t, "0.2.0", "  replaces: newt.v0.1.0"))
	if names := slices.Collect(maps.Keys(added.Files)); !slices.Equal(names, []string{"newt.yaml"}) {
		t.Errorf("changed files = %v", names)
	}
	golden(t, "keep/newt.yaml", files["newt.yaml"].Data)
	config := served(t, files)
	if config.Packages[0].DefaultChannel != "beta" || len(config.Channels) != 2 || len(config.Bundles) != 2 {
		t.Errorf("%v", config)
	}
	before, _, _ := strings.Cut(handMade, "# Everything.")
	_, after, _ := strings.Cut(handMade, "x-owner")
	if text := string(files["newt.yaml"].Data); !strings.HasPrefix(text, before) || !strings.Contains(text, after) || !strings.Contains(text, "entries:\n  # The first one.\n  - name: newt.v0.1.0\n    skipRange: \"<0.1.0\"\n") {
		t.Error("handwritten content has changed")
	}

	// An edited entry is kept with a note.
	text := strings.Replace(string(files["newt.yaml"].Data), "replaces: newt.v0.1.0", "skips: [newt.v0.1.0]", 1)
	files["newt.yaml"] = &fstest.MapFile{Data: []byte(text)}
	added = mustAdd(t, files, Options{Channels: []string{"beta"}}, newt(t, "0.2.0", "  replaces: newt.v0.1.0"))
	if len(added.Files) != 0 && len(added.Notes) != 1 {
		t.Errorf("Files = %v, Notes = %q", added.Files, added.Notes)
	}
	// The bundle blob is updated from its directory.
	s := newt(t, "0.2.0", "")
	if err := s.SetImage("quay.io/pond/newt-bundle:other", false); err != nil {
		t.Fatal(err)
	}
	if added = mustAdd(t, files, Options{Channels: []string{"beta"}}, s); !strings.Contains(string(added.Files["newt.yaml"]), "newt-bundle:other") {
		t.Error("the bundle was not updated")
	}
}

// TestKeepJSON checks that unknown fields are kept in JSON.
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
	if _, err := c.Add(t.Context(), []*Source{newt(t, "0.2.0", "  replaces: newt.v0.1.0")}, Options{Format: YAML, FormatGiven: true}); err == nil || !strings.Contains(err.Error(), "catalog/newt/catalog.json: is not a YAML file") {
		t.Errorf("%v", err)
	}
}

// TestInvalidUpgrades checks that upgrade problems are reported at the CSVs.
func TestInvalidUpgrades(t *testing.T) {
	t.Parallel()
	at := "bundle/manifests/newt.clusterserviceversion.yaml:1"
	for _, c := range []struct {
		name    string
		o       Options
		sources []*Source
		want    []string
	}{
		{"two heads", Options{Channels: []string{"a"}}, []*Source{newt(t, "0.1.0", ""), newt(t, "0.2.0", "")}, []string{at, "channel a has 2 heads: newt.v0.1.0, newt.v0.2.0"}},
		{"circle", Options{Channels: []string{"a", "b"}}, []*Source{newt(t, "0.1.0", "  replaces: newt.v0.2.0"), newt(t, "0.2.0", "  replaces: newt.v0.1.0")},
			[]string{at, "channel a: the upgrades form a cycle: newt.v0.1.0 replaces newt.v0.2.0 replaces newt.v0.1.0", "channel b: "}},
		{"stranded", Options{Channels: []string{"a"}}, []*Source{newt(t, "0.1.0", ""), newt(t, "0.2.0", "  replaces: newt.v0.1.0"), newt(t, "0.3.0", "  skips: [newt.v0.2.0]")},
			[]string{"no upgrade path from newt.v0.1.0 to the head newt.v0.3.0"}},
		{"twice", Options{}, []*Source{newt(t, "0.1.0", ""), newt(t, "0.1.0", "")}, []string{"duplicate bundle newt.v0.1.0"}},
		{"default", Options{Channels: []string{"x", "y"}}, []*Source{newt(t, "0.1.0", "")}, []string{"set --default-channel"}},
		{"unknown default", Options{DefaultChannel: "z"}, []*Source{newt(t, "0.1.0", "")}, []string{`--default-channel "z": not a channel`}},
		{"semver channels", Options{Template: Semver}, []*Source{newt(t, "0.1.0", "")}, []string{"candidate, fast, stable"}},
		{"semver build", Options{Template: Semver, Channels: []string{"fast"}}, []*Source{newt(t, "0.1.0", ""), newt(t, "0.1.0+1", "")}, []string{at, "build metadata"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			_, err := add(t, files, c.o, c.sources...)
			if err == nil || len(files) > 0 {
				t.Fatal("Add() succeeded, want an error")
			}
			for _, text := range c.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the error does not contain %q:\n%v", text, err)
				}
			}
		})
	}
}

// TestMany checks that adding a long history takes a limited time.
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
		t.Errorf("got %d bundles", len(config.Bundles))
	}
}
