package project

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/kubebuilder/v3/pkg/model/resource"

	"github.com/operon-sdk/operon/pkg/diag"
)

// FuzzParse: whatever is read comes back byte for byte, and changes write what they were to write, keep
// everything else, and leave a file that can be read.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/peers/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(handWritten))
	f.Add([]byte(`{"version": "3", "layout": "go.kubebuilder.io/v4", "resources": [{"kind": "A", "version": "v1"}], "plugins": {"a/v1": {"x": [1, 2]}}}`))
	f.Add([]byte("layout: x\nversion: 3\nplugins: &a\n  b: *a\n? c\n: d\n"))
	f.Add([]byte("--- # c\nlayout: |\n  x\nresources:\n- \n  kind: A\n  version: v1\n-   version: v1\n    kind: B\nversion: 3\n...\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if err != nil {
			return
		}
		if !bytes.Equal(c.Bytes(), data) {
			t.Fatalf("unchanged, but\n%q\nis\n%q", data, c.Bytes())
		}
		resources := c.Resources()
		gvk := GVK{"fuzz", "example.com", "v1", "Fuzz"}
		added := Resource{GVK: gvk, Plural: "fuzzes", API: &API{CRDVersion: "v1"}, Controllers: []string{"fuzz", "other"}}
		steps := []func() error{
			func() error { return c.SetMultiGroup(!c.MultiGroup()) },
			func() error { return c.SetNamespaced(!c.Namespaced()) },
			func() error { return c.UpdateResource(added) },
			func() error { return c.SetImage(gvk, Image{Ref: "a:1", Port: "80"}) },
		}
		multi, namespaced := !c.MultiGroup(), !c.Namespaced()
		for i, step := range steps {
			before := c.Bytes()
			if err := step(); err != nil {
				// Refusing is fine as long as nothing changed.
				if !bytes.Equal(c.Bytes(), before) {
					t.Fatalf("step %d failed with %v and changed\n%q\nto\n%q", i, err, before, c.Bytes())
				}
				continue
			}
			again, err := Parse(c.Bytes())
			if err != nil {
				t.Fatalf("step %d made\n%q\nof\n%q: %v", i, c.Bytes(), before, err)
			}
			ok := true
			switch i {
			case 0:
				ok = again.MultiGroup() == multi
			case 1:
				ok = again.Namespaced() == namespaced
			case 2:
				got, there := again.Resource(gvk)
				ok = there && got.HasAPI() && slices.Equal(got.Controllers, added.Controllers)
			case 3:
				image, there := again.Image(gvk)
				ok = there && image == Image{Ref: "a:1", Port: "80"}
			}
			if !ok {
				t.Fatalf("step %d is not to be seen in\n%q", i, again.Bytes())
			}
			untouched(t, before, again.Bytes(), i == 0 && !multi || i == 1 && !namespaced)
			if again.Domain() != c.Domain() || !slices.Equal(again.Layout(), c.Layout()) {
				t.Fatalf("step %d changed other keys:\n%q\n%q", i, before, again.Bytes())
			}
		}
		for _, r := range resources {
			if _, ok := c.Resource(r.GVK); !ok {
				t.Fatalf("resource %s is lost in\n%q", r.GVK, c.Bytes())
			}
		}
	})
}

// untouched fails unless two files differ in nothing but what the steps of FuzzParse are about, and no
// comment is lost. A removed entry takes its comments along.
func untouched(t *testing.T, before, after []byte, removed bool) {
	t.Helper()
	rest := func(text []byte) (map[string]any, []string) {
		c, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]any{}
		for i := 0; i+1 < len(c.root.Content); i += 2 {
			var value any
			if key := c.root.Content[i]; c.root.Content[i+1].Decode(&value) == nil {
				values[key.Value] = value
			}
		}
		delete(values, "multigroup")
		delete(values, "namespaced")
		if plugins, ok := values["plugins"].(map[string]any); ok {
			delete(plugins, keyState)
			delete(plugins, keyImages)
		}
		if values["plugins"] == nil || len(c.root.Content) == 0 || same(values["plugins"], map[string]any{}) {
			delete(values, "plugins")
		}
		items, _ := values["resources"].([]any)
		items = slices.DeleteFunc(items, func(item any) bool { m, _ := item.(map[string]any); return m["group"] == "fuzz" })
		values["resources"] = items
		var comments []string
		var walk func(n *yaml.Node)
		walk = func(n *yaml.Node) {
			for line := range strings.FieldsFuncSeq(n.HeadComment+"\n"+n.LineComment+"\n"+n.FootComment, func(r rune) bool { return r == '\n' || r == '\r' }) {
				comments = append(comments, strings.TrimSpace(line))
			}
			for _, inner := range n.Content {
				walk(inner)
			}
		}
		walk(c.root)
		return values, comments
	}
	old, comments := rest(before)
	now, _ := rest(after)
	if !same(old, now) {
		t.Fatalf("other keys changed:\n%q\n%q", before, after)
	}
	for _, comment := range comments {
		if !removed && !bytes.Contains(after, []byte(comment)) {
			t.Fatalf("comment %q is lost:\n%q\n%q", comment, before, after)
		}
	}
}

// FuzzNames: validators never panic, suggestions pass, and what they accept Kubernetes and both peers accept.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{
		"memcached", "Memcached", "v1beta", "v1alpha1", "cache.example.com", "http://Exa_mple..com", "github.com/example/x/v1",
		"git@github.com:o/r.git", "quay.io/a/b:1@sha256:" + strings.Repeat("0a", 32), "Größe", "3", "go/v3,helm", "", "\x00\xff", strings.Repeat("a", 300),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		validators := map[string]func(string) diag.Findings{
			"domain": CheckDomain, "name": CheckProjectName, "repo": CheckRepo, "version": CheckVersion, "kind": CheckKind, "plural": CheckPlural,
			"controller": CheckControllerName, "license": CheckLicense, "projectVersion": CheckProjectVersion,
			"port": CheckPort, "user": CheckRunAsUser,
			"group":   func(s string) diag.Findings { return CheckGroup(s, "example.com") },
			"image":   func(s string) diag.Findings { return CheckImage("--image", s) },
			"plugins": func(s string) diag.Findings { return ParsePlugins([]string{s}).Findings },
		}
		valid := map[string]bool{}
		for name, validate := range validators {
			findings := validate(s)
			valid[name] = len(findings) == 0
			for _, f := range findings {
				if f.Problem == "" || f.Suggestion != "" && len(validate(f.Suggestion)) > 0 {
					t.Errorf("%s: %v", name, f)
				}
			}
		}
		refused := func(name string, errs []string) {
			if valid[name] && len(errs) > 0 {
				t.Errorf("%s %q is accepted, but %v", name, s, errs)
			}
		}
		refused("domain", validation.IsDNS1123Subdomain(s))
		refused("name", validation.IsDNS1123Label(ObjectNamespace(s)))
		refused("name", validation.IsDNS1123Label(ObjectPrefix(s)+"-"+MetricsService(ObjectPrefix(s)+"-")))
		refused("version", validation.IsDNS1035Label(s))
		refused("kind", validation.IsDNS1035Label(strings.ToLower(s)+"list"))
		refused("plural", validation.IsDNS1035Label(s))
		refused("controller", validation.IsDNS1035Label(s))
		if n, err := strconv.Atoi(s); valid["port"] && s != "" {
			refused("port", validation.IsValidPortNum(n))
			if err != nil {
				t.Error(err)
			}
		}
		if n, err := strconv.ParseInt(s, 10, 64); valid["user"] && s != "" {
			refused("user", validation.IsValidUserID(n))
			if err != nil {
				t.Error(err)
			}
		}
		gvk := resource.GVK{Group: "cache", Domain: "example.com", Version: "v1", Kind: "Memcached"}
		for name, set := range map[string]func(){
			"group": func() { gvk.Group = s }, "domain": func() { gvk.Domain = s }, "version": func() { gvk.Version = s }, "kind": func() { gvk.Kind = s },
		} {
			saved := gvk
			set()
			r := resource.Resource{GVK: gvk, Plural: resource.RegularPlural(gvk.Kind)}
			// The domain alone has no group's length in it.
			if err := r.Validate(); valid[name] && err != nil && len(s) < 200 {
				t.Errorf("%s %q is accepted, but kubebuilder reports: %v", name, s, err)
			}
			gvk = saved
		}
		remotePath(s)
		remoteURL(s)
		_, _ = ProjectNameFromDir(s)
	})
}
