package catalog

import (
	"testing"
	"testing/fstest"
)

// FuzzLoad checks that no file makes Load panic.
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
		_, _ = c.Mermaid()
		for _, b := range c.blobs {
			if b.start < 0 || b.end > len(data) || string(data[b.start:b.end]) != string(b.Data) {
				t.Fatalf("the text of %s is not at its offset", b.Position)
			}
		}
	})
}

// FuzzReadBundle checks that no bundle makes ReadBundle panic, and that accepted bundles can be added.
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
				t.Fatal("ReadBundle() returned neither a bundle nor a problem")
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
