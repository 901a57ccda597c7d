package catalog

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"
)

// TestCheck checks that all problems of a catalog are reported with their lines.
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
		"cat/c.yaml:14:3: channel a: duplicate entry newt.v1, also at cat/c.yaml:12:3", "cat/c.yaml:13:3: skipRange \"later\"",
		"cat/c.yaml:15:3: channel a: entry newt.v2 has no olm.bundle", "cat/c.yaml:16:3: skips of entry newt.v2 has an empty name",
		"cat/c.yaml:19:1: channel a has the package toad", "package newt, but its olm.package property has frog", "version \"1\" is not a semantic version",
		"cat/c.yaml:31: bundle newt.v3 is in no channel", "bundle newt.v3 has no image", "newt.v3 has 0 olm.package properties",
		"cat/c.yaml:36:1: name of the blob must be a string", "cat/c.yaml:26:1: image \"UPPER\"", "cat/c.yaml:38: has no schema", "cat/d.json:2: is not valid JSON", "cat/e.txt:1: is not a catalog blob", "cat/f.yaml:",
	} {
		if !strings.Contains(all.Error(), want) {
			t.Errorf("no problem contains %q", want)
		}
	}
	if t.Failed() {
		t.Log(all)
	}
}

// TestSameVerdict compares Check with operator-registry on random channels, and checks that drawing ends.
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
			t.Fatalf("opm error = %v, Check() = %v for\n%s", err, found, text.String())
		}
		if err != nil && strings.Contains(found.Error(), "c: ") {
			t.Fatalf("only operator-registry reports %v", found)
		}
		verdicts[err == nil]++
		if heads := newGraph(&channel).heads(); err == nil && len(heads) != 1 {
			t.Fatalf("heads = %v", heads)
		}
		drawn := c.Text()
		for _, e := range channel.Entries {
			if !strings.Contains(drawn, e.Name) {
				t.Fatalf("%s is not drawn:\n%s", e.Name, drawn)
			}
		}
	}
	if verdicts[true] < 50 || verdicts[false] < 50 {
		t.Errorf("verdicts = %v", verdicts)
	}
}
