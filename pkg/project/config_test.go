package project

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

func mustParse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, text)
	}
	return c
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantText(t *testing.T, c *Config, want string) {
	t.Helper()
	if got := string(c.Bytes()); got != want {
		t.Errorf("PROJECT is\n%s\nwant\n%s", got, want)
	}
}

func peer(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "peers", name+".yaml"))
	check(t, err)
	return string(data)
}

var memcached = GVK{Group: "cache", Domain: "example.com", Version: "v1alpha1", Kind: "Memcached"}

func memcachedResource() Resource {
	return Resource{
		GVK: memcached, Plural: "memcacheds", Path: "github.com/example/memcached-operator/api/v1alpha1",
		API: &API{CRDVersion: "v1", Namespaced: true}, Controllers: []string{"memcached"},
	}
}

func newMemcached(t *testing.T) *Config {
	t.Helper()
	c, err := New(Options{Domain: "example.com", Repo: "github.com/example/memcached-operator", ProjectName: "memcached-operator"})
	check(t, err)
	return c
}

// A project built step by step has, byte for byte, the PROJECT file that operator-sdk writes.
func TestSameAsOperatorSDK(t *testing.T) {
	t.Parallel()
	c := newMemcached(t)
	wantText(t, c, peer(t, "operator-sdk-after-init"))
	r := memcachedResource()
	check(t, c.AddResource(r))
	wantText(t, c, peer(t, "operator-sdk-after-api"))
	r.Webhooks = &Webhooks{WebhookVersion: "v1", Defaulting: true, Validation: true}
	check(t, c.UpdateResource(r))
	wantText(t, c, peer(t, "operator-sdk-after-webhook"))
	got, ok := c.Resource(memcached)
	if !ok || !reflect.DeepEqual(got, r) {
		t.Errorf("read back %+v, want %+v", got, r)
	}
}

// The same steps on kubebuilder's file give kubebuilder's file.
func TestSameAsKubebuilder(t *testing.T) {
	t.Parallel()
	c := mustParse(t, peer(t, "kubebuilder-after-init"))
	r := memcachedResource()
	check(t, c.AddResource(r))
	wantText(t, c, peer(t, "kubebuilder-after-api"))
	r.Webhooks = &Webhooks{WebhookVersion: "v1", Defaulting: true, Validation: true}
	check(t, c.UpdateResource(r))
	wantText(t, c, peer(t, "kubebuilder-after-webhook"))
	r.Webhooks = nil
	check(t, c.UpdateResource(r))
	check(t, c.SetImage(memcached, Image{Ref: "memcached:1.6.39-alpine"}))
	wantText(t, c, peer(t, "kubebuilder-after-api-image"))

	r.Controllers = append(r.Controllers, "mem-two")
	check(t, c.UpdateResource(r))
	for _, core := range []Resource{
		{GVK: GVK{Group: "core", Version: "v1", Kind: "Pod"}, Path: "k8s.io/api/core/v1"},
		{GVK: GVK{Group: "rbac.authorization", Domain: "k8s.io", Version: "v1", Kind: "ClusterRole"}, Path: "k8s.io/api/rbac.authorization/v1"},
		{GVK: GVK{Group: "networking", Domain: "k8s.io", Version: "v1", Kind: "Ingress"}, Path: "k8s.io/api/networking/v1"},
		{GVK: GVK{Group: "apps", Version: "v1", Kind: "Deployment"}, Path: "k8s.io/api/apps/v1"},
	} {
		core.Core, core.Plural = true, RegularPlural(core.Kind)
		core.Controllers = []string{strings.ToLower(core.Kind)}
		check(t, c.AddResource(core))
	}
	check(t, c.AddResource(Resource{
		GVK: GVK{Group: "nosuch", Domain: "example.com", Version: "v1", Kind: "Foo"}, Plural: "foos", Controllers: []string{"foo"},
	}))
	wantText(t, c, peer(t, "kubebuilder-controllers-and-core"))
}

// The peers of the layout before reject fields of a resource that they do not support: that stays in Operon's own entry.
func TestRootLayoutKeys(t *testing.T) {
	t.Parallel()
	c := mustParse(t, "domain: example.com\nlayout:\n- go.kubebuilder.io/v3\nprojectName: old\nrepo: example.com/old\nversion: \"3\"\n")
	for _, r := range []Resource{
		{GVK: GVK{Group: "apps", Version: "v1", Kind: "Deployment"}, Plural: "deployments", Path: "k8s.io/api/apps/v1",
			Core: true, Controllers: []string{"deployment", "second"}},
		{GVK: GVK{Group: "acme", Domain: "io", Version: "v1", Kind: "Issuer"}, Plural: "issuers", Path: "acme.io/api/v1",
			External: true, Controllers: []string{"issuer"}},
	} {
		check(t, c.AddResource(r))
		if got, ok := c.Resource(r.GVK); !ok || !reflect.DeepEqual(got, r) {
			t.Errorf("read back %+v, want %+v", got, r)
		}
	}
	for _, item := range safeyaml.Child(c.root, "resources").Content {
		for i := 0; i < len(item.Content); i += 2 {
			if key := item.Content[i].Value; !strings.Contains(" controller domain group kind path version ", " "+key+" ") {
				t.Errorf("PROJECT has the key %s, which kubebuilder v3 refuses:\n%s", key, c.Bytes())
			}
		}
	}
}

func TestPeersRoundTrip(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/peers/*.yaml")
	check(t, err)
	if len(files) < 9 {
		t.Fatalf("only %d files", len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		check(t, err)
		for name, text := range map[string]string{
			"as is": string(data), "CRLF": strings.ReplaceAll(string(data), "\n", "\r\n"), "BOM": byteOrderMark + string(data),
			"no final newline": strings.TrimSuffix(string(data), "\n"),
		} {
			c := mustParse(t, text)
			wantText(t, c, text)
			// Writing what is there changes nothing.
			for _, r := range c.Resources() {
				check(t, c.UpdateResource(r))
			}
			check(t, c.SetMultiGroup(c.MultiGroup()))
			check(t, c.SetNamespaced(c.Namespaced()))
			wantText(t, c, text)
			// A change can be taken back.
			check(t, c.SetMultiGroup(true))
			if string(c.Bytes()) == text || !c.MultiGroup() {
				t.Errorf("%s %s: multigroup was not set", file, name)
			}
			check(t, c.SetMultiGroup(false))
			wantText(t, c, text)
		}
	}
}

func TestGetters(t *testing.T) {
	t.Parallel()
	c := mustParse(t, peer(t, "kubebuilder-controllers-and-core"))
	if c.Domain() != "example.com" || c.Repo() != "github.com/example/memcached-operator" || c.ProjectName() != "memcached-operator" ||
		c.CLIVersion() != "4.15.0" || c.MultiGroup() || c.Namespaced() || !reflect.DeepEqual(c.Layout(), []string{LayoutGoV4}) {
		t.Errorf("got %+v", c)
	}
	resources := c.Resources()
	if len(resources) != 6 || !reflect.DeepEqual(resources[0].Controllers, []string{"memcached", "mem-two"}) ||
		!resources[1].Core || resources[1].QualifiedGroup() != "core" || resources[3].QualifiedGroup() != "networking.k8s.io" ||
		resources[3].Plural != "ingresses" || resources[3].Controllers[0] != "ingress" {
		t.Errorf("got %+v", resources)
	}
	if image, ok := c.Image(memcached); !ok || image.Ref != "memcached:1.6.39-alpine" {
		t.Errorf("image %+v, %v", image, ok)
	}
}

// What operator-sdk's strict reader would refuse goes under plugins, and comes back.
func TestOwnState(t *testing.T) {
	t.Parallel()
	c := newMemcached(t)
	r := memcachedResource()
	r.Controllers = []string{"memcached", "backup"}
	r.Webhooks = &Webhooks{WebhookVersion: "v1", Defaulting: true, Conversion: true, Spoke: []string{"v1", "v2"}, DefaultingPath: "/mutate"}
	check(t, c.AddResource(r))
	external := Resource{
		GVK: GVK{Group: "cert-manager", Domain: "io", Version: "v1", Kind: "Certificate"}, Plural: "certificates", External: true,
		Path: "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1", Module: "github.com/cert-manager/cert-manager@v1.18.2",
		Controllers: []string{"certificate"},
	}
	check(t, c.AddResource(external))
	check(t, c.SetNamespaced(true))
	check(t, c.SetImage(memcached, Image{Ref: "memcached:1.6", Command: "memcached,-v", Port: "11211", RunAsUser: "1001"}))
	wantText(t, c, strings.Split(peer(t, "operator-sdk-after-init"), "plugins:")[0]+`plugins:
  deploy-image.go.kubebuilder.io/v1-alpha:
    resources:
    - domain: example.com
      group: cache
      kind: Memcached
      options:
        containerCommand: memcached,-v
        containerPort: "11211"
        image: memcached:1.6
        runAsUser: "1001"
      version: v1alpha1
  manifests.sdk.operatorframework.io/v2: {}
  operon.operatorframework.io/v1:
    namespaced: true
    resources:
    - controllers:
      - memcached
      - backup
      defaultingPath: /mutate
      domain: example.com
      group: cache
      kind: Memcached
      version: v1alpha1
    - domain: io
      group: cert-manager
      kind: Certificate
      module: github.com/cert-manager/cert-manager@v1.18.2
      version: v1
  scorecard.sdk.operatorframework.io/v2: {}
projectName: memcached-operator
repo: github.com/example/memcached-operator
resources:
- api:
    crdVersion: v1
    namespaced: true
  controller: true
  domain: example.com
  group: cache
  kind: Memcached
  path: github.com/example/memcached-operator/api/v1alpha1
  version: v1alpha1
  webhooks:
    conversion: true
    defaulting: true
    spoke:
    - v1
    - v2
    webhookVersion: v1
- controller: true
  domain: io
  external: true
  group: cert-manager
  kind: Certificate
  path: github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1
  version: v1
version: "3"
`)
	if !c.Namespaced() || !reflect.DeepEqual(c.Resources(), []Resource{r, external}) {
		t.Errorf("read back %+v", c.Resources())
	}
	// Own state is removed when it is empty.
	r.Controllers, r.Webhooks.DefaultingPath = []string{"memcached"}, ""
	check(t, c.UpdateResource(r))
	external.Module = ""
	check(t, c.UpdateResource(external))
	check(t, c.SetNamespaced(false))
	if c.HasPlugin(keyState) {
		t.Errorf("own state is left: %s", c.Bytes())
	}
}

// In a project of a newer kubebuilder the newer keys are used.
func TestNewerKeys(t *testing.T) {
	t.Parallel()
	c := mustParse(t, peer(t, "kubebuilder-after-api"))
	check(t, c.SetNamespaced(true))
	r := memcachedResource()
	r.Controllers = []string{"memcached", "backup"}
	r.Module = "example.com/m@v1.0.0"
	r.Webhooks = &Webhooks{WebhookVersion: "v1", Validation: true, ValidationPath: "/v"}
	check(t, c.UpdateResource(r))
	text := string(c.Bytes())
	for _, want := range []string{"\nnamespaced: true\n", "\n  controllers:\n  - name: memcached\n  - name: backup\n", "\n  module: example.com/m@v1.0.0\n", "\n    validationPath: /v\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\nplugins:") || strings.Contains(text, "controller: true") || !c.Namespaced() {
		t.Errorf("got\n%s", text)
	}
	if got, _ := c.Resource(memcached); !reflect.DeepEqual(got, r) {
		t.Errorf("read back %+v", got)
	}
	check(t, c.SetNamespaced(false))
	if c.Namespaced() || strings.Contains(string(c.Bytes()), "\nnamespaced:") {
		t.Errorf("namespaced is left")
	}
}

const handWritten = "\uFEFF# mine\r\n" + `
version: "3" # the format

# who we are
domain: 'example.com'   # quoted
repo: github.com/example/app
projectName:   app
futureKey: {a: 1, b: [2, 3]} # unknown
layout: [ "go.kubebuilder.io/v4" ]

plugins:
    # four columns
    other.example.com/v1:
        list:
            - a   # first
            - b

        text: |
            # not a comment

            kept
resources:
    # about memcached
    - kind: Memcached # the kind
      version: v1alpha1
      group: cache
      domain: example.com
      unknown: [1,
        2]

      # the types
      api:
          namespaced: true
          crdVersion: v1   # only one
          later: x
    # trailing remark

# the end
`

// A change leaves every other byte of a file that a user wrote as it is.
func TestHandWritten(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(strings.ReplaceAll(handWritten, "\r\n", "\n"), "\n", "\r\n")
	c := mustParse(t, text)
	wantText(t, c, text)
	replace := func(old, new string) {
		t.Helper()
		old, new = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(new, "\n", "\r\n")
		if strings.Count(text, old) != 1 {
			t.Fatalf("%q occurs %d times", old, strings.Count(text, old))
		}
		text = strings.Replace(text, old, new, 1)
		wantText(t, c, text)
	}
	r, ok := c.Resource(memcached)
	if !ok || r.API == nil || !r.API.Namespaced {
		t.Fatalf("got %+v", r)
	}
	r.API.Namespaced = false
	check(t, c.UpdateResource(r))
	replace("          namespaced: true\n          crdVersion", "          crdVersion")
	r.Controllers = []string{"memcached"}
	check(t, c.UpdateResource(r))
	replace("          later: x\n", "          later: x\n      controller: true\n")
	r.API.CRDVersion = "v1beta1"
	check(t, c.UpdateResource(r))
	replace("crdVersion: v1   # only one", "crdVersion: v1beta1   # only one")
	check(t, c.SetMultiGroup(true))
	replace("\n    # trailing remark\n", "\n    # trailing remark\nmultigroup: true\n")
	other := Resource{GVK: GVK{Group: "cache", Domain: "example.com", Version: "v1", Kind: "Other"}, Plural: "odd"}
	check(t, c.AddResource(other))
	replace("      controller: true\n", "      controller: true\n    - domain: example.com\n      group: cache\n      kind: Other\n      plural: odd\n      version: v1\n")
	check(t, c.setPlugin("other.example.com/v1", map[string]any{"list": []any{"a", "c", "d"}, "text": "# not a comment\n\nkept\n", "num": 1 << 40}))
	replace("            - b\n", "            - c\n            - d\n        num: 1099511627776\n")
	check(t, c.setPlugin("new.example.com/v1", map[string]any{"a": []any{map[string]any{"b": 1}}}))
	replace("\nplugins:\n", "\nplugins:\n    new.example.com/v1:\n      a:\n        - b: 1\n")
	check(t, c.setPlugin("new.example.com/v1", nil))
	replace("    new.example.com/v1:\n      a:\n        - b: 1\n", "")
}

// Flow style is written anew where it must change, with its comments.
func TestFlowStyle(t *testing.T) {
	t.Parallel()
	const json = `{"version": "3", "layout": "go.kubebuilder.io/v4", "domain": "example.com", "resources": [{"kind": "A", "version": "v1"}]}`
	c := mustParse(t, json)
	wantText(t, c, json)
	check(t, c.SetMultiGroup(true))
	wantText(t, c, "domain: example.com\nlayout: go.kubebuilder.io/v4\nmultigroup: true\nresources:\n- kind: A\n  version: v1\nversion: \"3\"\n")

	c = mustParse(t, `layout: [ # kept
  go.kubebuilder.io/v4]
# about resources
resources: [] # none yet
plugins:
version: "3"
`)
	check(t, c.AddResource(Resource{GVK: GVK{Group: "a", Version: "v1", Kind: "A"}, Plural: "as"}))
	check(t, c.setPlugin("x.example.com/v1", map[string]any{"a": "#"}))
	wantText(t, c, `layout: [ # kept
  go.kubebuilder.io/v4]
# about resources
resources: # none yet
- group: a
  kind: A
  version: v1
plugins:
  x.example.com/v1:
    a: '#'
version: "3"
`)
}

// Each step is a change at a path and what becomes of the text.
func TestPut(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `layout: x
plugins:
  a/v1:
    list: # numbers
    - one: 1 # first
      # about two
      two: 2
    - 3
    -
      four: 4
    - []
    text: "a
      b"
version: 3
`)
	for _, step := range []struct {
		path     []any
		value    any
		old, new string
	}{
		{[]any{"list", 0, "one"}, nil, "    - one: 1 # first\n      # about two\n      two: 2\n", "      # about two\n    - two: 2\n"},
		{[]any{"list", 0, "five"}, 5, "    - two: 2\n", "    - five: 5\n      two: 2\n"},
		{[]any{"list", 0, "five"}, []any{"a"}, "    - five: 5\n", "    - five:\n      - a\n"},
		{[]any{"list", 1}, "x: y", "    - 3\n", "    - 'x: y'\n"},
		{[]any{"list", 2, "a"}, true, "    -\n      four: 4\n", "    -\n      a: true\n      four: 4\n"},
		{[]any{"list", 3, 0}, "b\nc", "    - []\n", "    - - \"b\\nc\"\n"},
		{[]any{"list", 4}, map[string]any{"m": map[string]any{}, "l": []any{[]any{1, 2}, map[string]any{}, []any{}}}, "c\"\n", "c\"\n    - l:\n      - - 1\n        - 2\n      - {}\n      - []\n      m: {}\n"},
		{[]any{"list", 4}, nil, "    - l:\n      - - 1\n        - 2\n      - {}\n      - []\n      m: {}\n", ""},
		{[]any{"list", 3}, nil, "    - - \"b\\nc\"\n", ""},
		{[]any{"list", 2}, nil, "    -\n      a: true\n      four: 4\n", ""},
		{[]any{"list", 1}, nil, "    - 'x: y'\n", ""},
		{[]any{"text"}, 7, "\"a\n      b\"", "7"},
		{[]any{"nothing"}, nil, "", ""},
		{[]any{"list", 0}, nil, "    list: # numbers\n      # about two\n    - five:\n      - a\n      two: 2\n", ""},
		{[]any{"text"}, nil, "plugins:\n  a/v1:\n    text: 7\n", ""},
		{[]any{"list", 0}, "z", "version", "plugins:\n  a/v1:\n    list:\n    - z\nversion"},
	} {
		want := strings.Replace(string(c.Bytes()), step.old, step.new, 1)
		if err := c.put(append([]any{"plugins", "a/v1"}, step.path...), step.value); err != nil {
			t.Errorf("%v: %v", step.path, err)
		}
		wantText(t, c, want)
	}
}

// A change that would give other keys another meaning is refused, and the text stays as it is.
func TestUnchangeable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		// The blank lines belong to the text.
		"text that keeps its end": "layout: x\nm: |+\n  a\n\n\nversion: 3\n",
		"anchor on a first key":   "layout: x\nversion: 3\nmultigroup: &a false\nother: *a\n",
	} {
		c := mustParse(t, text)
		if err := c.SetMultiGroup(true); err == nil || !strings.HasPrefix(err.Error(), "PROJECT") {
			t.Errorf("%s: got %v and\n%s", name, err, c.Bytes())
		}
		wantText(t, c, text)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	const tail = "layout:\n- go.kubebuilder.io/v4\nversion: \"3\"\n"
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "PROJECT: the file is empty; restore"},
		{"blank", " \n\n", "PROJECT: the file is empty; restore"},
		{"comments", "# a\n", "PROJECT: the file contains only comments; restore"},
		{"huge", tail + strings.Repeat("#\n", 300000), "PROJECT: the file has 600044 bytes, more than the limit of 524288; restore"},
		{"text", "hello\n", `PROJECT:1:1: expected keys with values, found "hello"`},
		{"list", "- a\n", "PROJECT:1:1: expected keys with values, found a list"},
		{"no keys", "{}\n", "PROJECT:1:1: the file contains no keys"},
		{"tab", "domain: a\n\tb: c\n", "PROJECT:2:1: not valid YAML: "},
		{"quote", "a: b\ndomain: \"example.com\n" + tail, "PROJECT:2:9: not valid YAML: "},
		{"bracket", "a: b\nlayout: [a, b\nversion: \"3\"\n", "PROJECT:2:9: not valid YAML: "},
		{"two colons", "a: b\nrepo: a: b\n", "PROJECT:2:8: not valid YAML: mapping values are not allowed"},
		{"alias", "domain: *a\n", "PROJECT:1:9: not valid YAML: unknown anchor"},
		{"merge conflict", "a: b\n<<<<<<< HEAD\n" + tail, "PROJECT:2:1: not valid YAML: "},
		{"complete merge conflict", "a: b\n<<<<<<< HEAD\nc: d\n=======\nc: e\n>>>>>>> feature\n" + tail, "PROJECT:2: merge conflict marker; resolve the conflict (lines 2-6)"},
		{"two documents", tail + "---\na: b\n", "PROJECT:4:1: a second YAML document starts here; keep"},
		{"UTF-16", "\xff\xfea\x00", "PROJECT:1:1: the file is in UTF-16; save it as UTF-8"},
		{"Latin-1", "a: b\n# \xe4\n" + tail, "PROJECT:2:3: the file is not valid UTF-8"},
		{"control", "a: \x00b\n" + tail, "PROJECT:1:4: a control character (U+0000); remove"},
		{"duplicate", "domain: a\ndomain: b\n" + tail, `PROJECT:2:1: key "domain" is given twice, first in line 1`},
		{"key of nothing", tail + "?\n", "PROJECT:4:2: a key must be a name, found nothing; remove it"},
		{"key of several values", "? [a, b]\n: c\n" + tail, "PROJECT:1:3: a key must be a name, found a list; remove it"},
		{"nested duplicate", "plugins:\n  a:\n    b: 1\n    b: 2\n" + tail, `PROJECT:4:5: key "b" is given twice, first in line 3`},
		{"no version", "layout:\n- go.kubebuilder.io/v4\n", "PROJECT:1:1: the project version is missing; add the line"},
		{"empty version", "layout:\n- go.kubebuilder.io/v4\nversion: \n", "PROJECT:3:9: the project version is missing; add the line"},
		{"version 2", "repo: x\nversion: \"2\"\n", "PROJECT:2:10: project version 2 is of kubebuilder v1 and v2, which current tools no longer read; run 'operon upgrade'"},
		{"version 3-alpha", "layout: x\nversion: 3-alpha\n", "PROJECT:2:10: project version 3-alpha was a preview"},
		{"version 4", "layout: x\nversion: \"4\"\n", `PROJECT:2:10: project version "4" is newer than this Operon; it knows only 3: update Operon, or use that`},
		{"no layout", "version: \"3\"\n", "PROJECT:1:1: the layout is missing; add"},
		{"empty layout", "layout: []\nversion: \"3\"\n", "PROJECT:1:9: the layout is missing; add"},
		{"layout map", "layout: {a: b}\nversion: \"3\"\n", `PROJECT:1:9: key "layout": expected a list of strings, found keys with values`},
		{"domain list", "domain: [a]\n" + tail, `PROJECT:1:9: key "domain": expected a string, found a list`},
		{"multigroup", "multigroup: maybe\n" + tail, `PROJECT:1:13: key "multigroup": expected true or false, found "maybe"`},
		{"resources map", "resources: {a: b}\n" + tail, `PROJECT:1:12: key "resources": expected a list of keys with values, found keys with values`},
		{"resources text", "resources:\n- a\n" + tail, `PROJECT:2:1: key "resources": expected a list of keys with values`},
		{"resource without kind", "resources:\n- version: v1\n" + tail, "PROJECT:2:3: a resource without kind; add"},
		{"controller", "resources:\n- kind: A\n  version: v1\n  controller: 7\n" + tail, `PROJECT:4:15: key "controller": expected true or false`},
		{"api", "resources:\n- kind: A\n  version: v1\n  api: v1\n" + tail, `PROJECT:4:8: key "api": expected keys with values, found "v1"`},
		{"webhooks", "resources:\n- kind: A\n  version: v1\n  webhooks:\n    spoke: v1\n" + tail, `PROJECT:5:12: key "spoke": expected a list of strings`},
		{"path as kind", "resources:\n- kind: ../..\n  version: v1\n" + tail, `PROJECT:2:9: key "kind": expected a name in one line, without path separators, found "../.."`},
		{"path as group", "resources:\n- kind: A\n  group: ../..\n  version: v1\n" + tail, `PROJECT:3:10: key "group": expected a name in one line, without path separators, found "../.."`},
		{"path as version", "resources:\n- kind: A\n  version: ..\n" + tail, `PROJECT:3:12: key "version": expected a name in one line, without path separators, found ".."`},
		{"path out of the module", "resources:\n- kind: A\n  version: v1\n  path: a.b/c/../../..\n" + tail, `PROJECT:4:9: key "path": expected the import path of a Go package, found "a.b/c/../../.."`},
		{"kind of two lines", "resources:\n- kind: \"A\\nB\"\n  version: v1\n" + tail, `PROJECT:2:9: key "kind": expected a name in one line, without path separators, found "A\nB"`},
		{"escape sequence", "repo: \"\\e[31mred\"\n" + tail, `PROJECT:1:7: the value "\x1b[31mred" contains a control character (U+001B); remove it`},
		{"text from right to left", "plugins:\n  a: {\"b\\u202ec\": d}\n" + tail, `PROJECT:2:7: the value "b\u202ec" contains a control character (U+202E); remove it`},
		{"deep", "plugins: " + strings.Repeat("[", 300) + "\n" + tail, "PROJECT:1:1: the file is nested more than 150 levels deep; restore"},
		{"alias in use", "x: &x a\ndomain: *x\n" + tail, `PROJECT:2:9: the value of key "domain" is an alias (*x); write the value out`},
		{"plugins", "plugins: []\n" + tail, `PROJECT:1:10: key "plugins": expected keys with values, found a list`},
	} {
		_, err := Parse([]byte(test.text))
		finding, ok := errors.AsType[diag.Finding](err)
		if !ok || finding.File != FileName || !strings.HasPrefix(err.Error(), test.want) || !strings.Contains(err.Error(), "; ") {
			t.Errorf("%s: error %v, want %s with a fix", test.name, err, test.want)
		}
		if _, err := Parse([]byte(byteOrderMark + strings.ReplaceAll(test.text, "\n", "\r\n"))); err == nil {
			t.Errorf("%s with CRLF: no error", test.name)
		}
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	for layout, want := range map[string]string{
		"go.kubebuilder.io/v4":                                            "",
		"[helm.kubebuilder.io/v1-alpha, go.kubebuilder.io/v4]":            "",
		"[kustomize.common.kubebuilder.io/v2, base.go.kubebuilder.io/v4]": "",
		"go.kubebuilder.io/v3":                                            "PROJECT: layout go.kubebuilder.io/v3: only generate, create api, delete api and run local support it, other commands need go.kubebuilder.io/v4; run 'operon upgrade'",
		"go.kubebuilder.io/v2":                                            "PROJECT: layout go.kubebuilder.io/v2: Go projects of layout v2 must be moved to go.kubebuilder.io/v4 first; run 'operon upgrade'",
		"go.kubebuilder.io/v9":                                            "PROJECT: layout go.kubebuilder.io/v9: newer than this Operon, which knows go.kubebuilder.io/v4",
		"helm.sdk.operatorframework.io/v1":                                "PROJECT: layout helm.sdk.operatorframework.io/v1: this command is for Go projects, and Helm projects have no Go code",
		"ansible.sdk.operatorframework.io/v1":                             "PROJECT: layout ansible.sdk.operatorframework.io/v1: this command is for Go projects, and Ansible projects have no Go code",
		"ansible.sdk.operatorframework.io/v2":                             "PROJECT: layout ansible.sdk.operatorframework.io/v2: Ansible projects of layout v2 are not supported, only of ansible.sdk.operatorframework.io/v1",
		"[quarkus.javaoperatorsdk.io/v1-beta]":                            "PROJECT: layout quarkus.javaoperatorsdk.io/v1-beta: this command supports only Go projects (go.kubebuilder.io/v4)",
	} {
		config := mustParse(t, "layout: "+layout+"\nversion: \"3\"\n")
		err := config.CheckLayout()
		if older := config.CheckOlderLayout(); (older == nil) != (err == nil || config.Facts().Older) {
			t.Errorf("%s: as an older layout %v", layout, older)
		}
		if want == "" && err == nil || want != "" && err != nil && strings.HasPrefix(err.Error(), want) {
			continue
		}
		t.Errorf("%s: got %v, want %s", layout, err, want)
	}
}
