package golden

import (
	"fmt"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// TestMultigroupManager runs the golden operator with several groups on a real API server, with the service account of its
// manifests: convert, default and reject in both versions, and reconcile with all controllers.
func TestMultigroupManager(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "multigroup-operator")
	c := &managedCluster{Cluster: clitest.StartCluster(t)}
	c.deploy(dir, "multigroup-operator-system:multigroup-operator-controller-manager")

	const v1, v2 = "vessels.v1.fleet.example.org", "vessels.v2.fleet.example.org"
	is := func(want, resource, name, path string) {
		t.Helper()
		if got := c.Must("", "get", resource, name, "-o", "jsonpath="+path); got != want {
			t.Errorf("%s of %s %s = %s, want %s", path, resource, name, got, want)
		}
	}

	// The samples: vessel-old has version v1, vessel-sample v2, the stored version.
	samples, err := manifest.Build(dir, "config/samples")
	if err != nil {
		t.Fatal(err)
	}
	c.Must(string(samples), "apply", "-f", "-")
	is(`["v2"]`, "crd", "vessels.fleet.example.org", "{.status.storedVersions}")

	// Convert, and default empty fields.
	const kept = `{.metadata.annotations.fleet\.example\.org/flag}`
	is(`{"crew":{"captain":"Asta","size":7},"tonnage":120}`, v2, "vessel-old", "{.spec}")
	is(`{"captain":"Asta","crew":7,"tonnage":120}`, v1, "vessel-old", "{.spec}")
	is(`{"crew":{"captain":"Runa","size":1},"flag":"flag-sample","tonnage":90}`, v2, "vessel-sample", "{.spec}")
	is(`{"captain":"Runa","crew":1,"tonnage":90}`, v1, "vessel-sample", "{.spec}")
	is("flag-sample", v1, "vessel-sample", kept)
	is("", v2, "vessel-sample", kept)

	// A change in v1 keeps fields of v2, and is converted to v2.
	c.Must("", "patch", v1, "vessel-sample", "--type=merge", "-p", `{"spec":{"captain":"Siv","crew":3}}`)
	is(`{"crew":{"captain":"Siv","size":3},"flag":"flag-sample","tonnage":90}`, v2, "vessel-sample", "{.spec}")
	is(`{"captain":"Siv","crew":3,"tonnage":90}`, v1, "vessel-sample", "{.spec}")

	// The webhooks of v2 are called for objects of v1, too.
	skiff := func(version, spec string) string {
		return fmt.Sprintf("apiVersion: fleet.example.org/%s\nkind: Vessel\nmetadata: {name: skiff}\nspec: {%s}\n", version, spec)
	}
	if spec := c.Must(skiff("v1", "tonnage: 5"), "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.spec}"); spec != `{"crew":1,"tonnage":5}` {
		t.Errorf("spec with the defaults of v1 = %s", spec)
	}
	const crowded = `The Vessel "skiff" is invalid: spec.crew.size: Invalid value: 6: a vessel of 5 tons takes 5 people at most`
	c.MustRefuse(crowded, skiff("v1", "tonnage: 5, crew: 6"), "create", "-f", "-")
	c.MustRefuse(crowded, skiff("v2", "tonnage: 5, crew: {size: 6}"), "create", "-f", "-")
	for _, resource := range []string{v1, v2} {
		c.MustRefuse("spec.tonnage: Invalid value: 121: cannot change", "", "patch", resource, "vessel-old", "--type=merge", "-p", `{"spec":{"tonnage":121}}`)
	}

	// Both controllers of Vessel, and the controllers of the other groups.
	reason := func(want, resource, name, condition string) {
		t.Helper()
		c.Eventually(want, "get", resource, name, "-o", fmt.Sprintf(`jsonpath={.status.conditions[?(@.type=="%s")].reason}`, condition))
	}
	for _, resource := range []string{v1, v2} {
		reason("NotImplemented", resource, "vessel-sample", "Available")
		reason("FlagKnown", resource, "vessel-sample", "Inspected")
	}
	reason("FlagUnknown", v1, "vessel-old", "Inspected")
	c.Must("", "patch", v2, "vessel-old", "--type=merge", "-p", `{"spec":{"flag":"flag-sample"}}`)
	reason("FlagKnown", v1, "vessel-old", "Inspected")
	reason("NotImplemented", "berth", "berth-sample", "Available")
	reason("NotImplemented", "flag", "flag-sample", "Available")
	is("", "flag", "flag-sample", "{.metadata.namespace}")
	c.Must("", "delete", "flag", "flag-sample")
	reason("FlagUnknown", v2, "vessel-old", "Inspected")

	// The controllers of external kinds.
	c.Must(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"sailor"},`+
		`"spec":{"automountServiceAccountToken":false,"containers":[{"name":"sailor","image":"sailor"}]}}`, "apply", "--validate=false", "-f", "-")
	c.logs("Read Pod")
	c.logs("Read CustomResourceDefinition")
}
