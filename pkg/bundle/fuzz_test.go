package bundle

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzDockerfile checks that values and extras of a Dockerfile are kept when it is written.
func FuzzDockerfile(f *testing.F) {
	f.Add("FROM scratch\n\n# Ours.\nLABEL a=b c=\"d e\" \\\n  f=g\nLABEL old form\nCOPY x /y/\nRUN true \\\n  && false\n# end")
	f.Add("LABEL 00000000000\\ \n0")
	f.Add("LABEL 0=0\v 1")
	meta := Metadata{Dir: "bundle", Package: "p", Channels: "alpha", Layout: "l", Builder: "b"}
	plain, err := meta.Dockerfile()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(plain))
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\"'\r") {
			t.Skip("quotes and carriage returns are kept, but not byte for byte")
		}
		read := parseDockerfile([]byte(text))
		values := meta.values(true)
		for _, e := range read.extras {
			if e.key != "" {
				values[e.key] = read.values[e.key]
			}
		}
		written, err := meta.render(DockerfileName, values, read.extras)
		if err != nil {
			t.Fatal(err)
		}
		again := parseDockerfile(written)
		for _, e := range read.extras {
			value, _ := read.values[e.key].(string)
			if e.key == "" || strings.ContainsAny(e.key+value, "\\\"'\n\r\t") {
				continue // best effort
			}
			if !reflect.DeepEqual(again.values[e.key], read.values[e.key]) {
				t.Errorf("label %q = %q, after writing %q:\n%s", e.key, read.values[e.key], again.values[e.key], written)
			}
		}
	})
}

// FuzzAnnotations checks that annotations are kept when annotations.yaml is written.
func FuzzAnnotations(f *testing.F) {
	f.Add("annotations:\n  # Mine.\n  a.example/b: \"1\"\n  c: |\n    two\n    lines\nmore: {d: e}\n")
	meta := Metadata{Dir: "bundle", Package: "p", Channels: "alpha", Layout: "l", Builder: "b"}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := parseAnnotations("f", []byte(text))
		if err != nil {
			return
		}
		values := meta.values(false)
		for _, e := range read.extras {
			if e.key != "" {
				values[e.key] = read.values[e.key]
			}
		}
		written, err := meta.render("annotations.yaml", values, read.extras)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseAnnotations("f", written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		for _, e := range read.extras {
			if e.key != "" && !reflect.DeepEqual(again.values[e.key], read.values[e.key]) {
				t.Errorf("%q = %q, after writing %q:\n%s", e.key, read.values[e.key], again.values[e.key], written)
			}
		}
	})
}

// FuzzParseDockerfile checks that sources are in the directory of the Dockerfile and targets below the root of the image.
func FuzzParseDockerfile(f *testing.F) {
	f.Add("FROM scratch\nLABEL a=b \\\n c=\"d e\"\nCOPY bundle/manifests /manifests/\n")
	f.Add("FROM x\nCOPY ../a /b\nADD a b\nCOPY a /..\nCOPY /etc/passwd x")
	f.Fuzz(func(t *testing.T, text string) {
		recipe, problems := ParseDockerfile("Dockerfile", []byte(text))
		for _, c := range recipe.Copies {
			if !filepath.IsLocal(c.From) || !filepath.IsLocal(c.To) || c.To == "." {
				t.Errorf("copies %q to %q", c.From, c.To)
			}
		}
		for _, p := range problems {
			if p.Line > strings.Count(text, "\n")+1 {
				t.Errorf("%s: position is beyond the end", p)
			}
		}
	})
}
