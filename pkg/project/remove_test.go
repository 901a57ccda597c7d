package project

import "testing"

// TestRemoveResource checks that adding a resource with all that plugins keep about it, and removing it
// again, leaves the file as it was, as the only one and beside others.
func TestRemoveResource(t *testing.T) {
	t.Parallel()
	c, err := New(Options{Domain: "example.com", Repo: "example.com/p", ProjectName: "p"})
	if err != nil {
		t.Fatal(err)
	}
	resource := func(kind string) Resource {
		return Resource{
			GVK: GVK{"cache", "example.com", "v1", kind}, Plural: RegularPlural(kind), Path: "example.com/p/api/v1",
			API: &API{CRDVersion: "v1", Namespaced: true}, Controllers: []string{"one", "two"}, Module: "example.com/m@v1.0.0",
		}
	}
	add := func(kind string) {
		t.Helper()
		if err := c.AddResource(resource(kind)); err != nil {
			t.Fatal(err)
		}
		if err := c.SetImage(resource(kind).GVK, Image{Ref: "image:1", Port: "80"}); err != nil {
			t.Fatal(err)
		}
	}
	var before []string
	for _, kind := range []string{"First", "Second", "Third"} {
		before = append(before, string(c.Bytes()))
		add(kind)
	}
	if err := c.RemoveResource(GVK{"cache", "example.com", "v2", "First"}); err == nil {
		t.Error("removing a resource that is not there succeeds")
	}
	for i, kind := range []string{"Third", "Second", "First"} {
		if err := c.RemoveResource(resource(kind).GVK); err != nil {
			t.Fatal(err)
		}
		if got := string(c.Bytes()); got != before[2-i] {
			t.Errorf("without %s:\n%s\nwant:\n%s", kind, got, before[2-i])
		}
	}
}
