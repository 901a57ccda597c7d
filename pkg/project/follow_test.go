package project

import (
	"strings"
	"testing"
)

const suffixed = `domain: example.com
layout:
- go.kubebuilder.io/v4-alpha
projectName: p
repo: example.com/p
resources:
- api:
    crdVersion: v1
    namespaced: true
  domain: example.com
  group: crew
  kind: Captain
  path: example.com/p/apis/crew/v1
  version: v1
multigroup: true
version: "3"
`

// TestFollowModule uses the module path of go.mod, and keeps the form of the file.
func TestFollowModule(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(suffixed))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckLayout(); err != nil {
		t.Error(err)
	}
	for followed, want := range map[string]string{"example.com/other": "example.com/other/apis/crew/v1", "example.com": "example.com/apis/crew/v1"} {
		other, err := c.Copy()
		if err != nil {
			t.Fatal(err)
		}
		if other.FollowModule(followed); other.Repo() != followed || other.Resources()[0].Path != want {
			t.Errorf("repo %s, path %s", other.Repo(), other.Resources()[0].Path)
		}
	}
	c.FollowModule("example.com/p/v2")
	copied, err := c.Copy()
	if err != nil || copied.Repo() != "example.com/p/v2" || copied.Resources()[0].Path != "example.com/p/v2/apis/crew/v1" {
		t.Errorf("%v, %+v", err, copied.Resources())
	}
	second := Resource{GVK: GVK{"ship", "example.com", "v1", "Frigate"}, Plural: "frigates", Path: c.APIPath("ship", "v1"), API: &API{CRDVersion: "v1"}}
	if second.Path != "example.com/p/v2/apis/ship/v1" {
		t.Errorf("path of a new API is %s", second.Path)
	}
	if err := c.AddResource(second); err != nil {
		t.Fatal(err)
	}
	if text := string(c.Bytes()); !strings.Contains(text, "  path: example.com/p/apis/ship/v1\n") {
		t.Errorf("got\n%s", text)
	}
	for _, r := range c.Resources() {
		if err := c.UpdateResource(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.RemoveResource(second.GVK); err != nil || string(c.Bytes()) != suffixed {
		t.Errorf("%v, got\n%s", err, c.Bytes())
	}
}

// TestOtherDomain reports a resource that records the group of a new API with another domain.
func TestOtherDomain(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(strings.Replace(suffixed, "  domain: example.com\n  group", "  group", 1)))
	if err != nil {
		t.Fatal(err)
	}
	_, findings := ResolveResource(c, ResourceOptions{Group: "crew", Version: "v1", Kind: "Mate", API: true, Namespaced: true})
	want := "PROJECT records kind Captain of this group with no domain, but the project's domain is example.com; correct the key domain of that resource"
	if len(findings) == 0 || findings[0].Problem != want {
		t.Errorf("got %v", findings)
	}
}
