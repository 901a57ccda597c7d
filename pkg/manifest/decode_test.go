package manifest_test

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/manifest"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	const stream = "\ufeff# A comment.\n---\n# Another.\n\napiVersion: v1\r\nkind: Service\r\nmetadata:\r\n  name: a\r\n  namespace: ns\r\n--- # end\n---\nnull\n---\n{}\n" +
		"--- {apiVersion: apps/v1, kind: Deployment, metadata: {name: b}}\n...\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata:\n    name: c\n" +
		"---\napiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: d}\n"
	objects, problems := manifest.Decode("f", []byte(stream))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, o := range objects {
		got = append(got, o.Position.String()+" "+o.APIVersion()+" "+o.String())
	}
	want := "f:5 v1 Service ns/a\nf:15 apps/v1 Deployment b\nf:20:3 v1 Secret c\nf:28:3 v1 ConfigMap d"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// FuzzDecode checks that no input breaks reading, and that each problem has a place.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("apiVersion: v1\nkind: List\nitems:\n- {kind: A}\n--- x\n"))
	f.Add([]byte("a: &a [*a]\n---\nmetadata: 7\nkind: B\napiVersion: c/d\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, problems := manifest.Decode("f", data)
		for _, p := range problems {
			if p.Line == 0 || p.Line > strings.Count(string(data), "\n")+1 {
				t.Errorf("%s is not in the input of %d lines", p, strings.Count(string(data), "\n")+1)
			}
		}
		for _, o := range objects {
			if o.Kind() == "" || o.APIVersion() == "" {
				t.Errorf("an object without kind or version: %v", o.Fields)
			}
		}
	})
}
