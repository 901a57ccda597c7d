package operator

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestParseInstallMode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "AllNamespaces": "AllNamespaces", "OwnNamespace": "OwnNamespace", "SingleNamespace=a": "SingleNamespace=a", "SingleNamespace=a,a": "SingleNamespace=a",
		"MultiNamespace=b, a": "MultiNamespace=a,b", "MultiNamespace=a": "MultiNamespace=a",
		"AllNamespaces=a": "error: AllNamespaces must not have namespaces", "OwnNamespace=": `error: "" is not a valid namespace`,
		"SingleNamespace": "error: must have one namespace, as SingleNamespace=NAMESPACE", "SingleNamespace=a,b": "error: must have one namespace, as SingleNamespace=NAMESPACE",
		"MultiNamespace": "error: must have namespaces, as MultiNamespace=ONE,TWO", "MultiNamespace=a,B": `error: "B" is not a valid namespace`,
		"allnamespaces": "error: must be one of AllNamespaces, OwnNamespace, SingleNamespace, MultiNamespace",
	} {
		mode, err := ParseInstallMode(text)
		got := mode.String()
		if err != nil {
			got = fmt.Sprintf("error: %v", err)
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		mode     string
		modes    []string
		converts bool
		want     string
	}{
		{"", nil, false, "error: p.v1 supports no install mode; set one in spec.installModes of the ClusterServiceVersion"},
		{"", []string{ownNamespace, allNamespaces}, false, "all"},
		{"", []string{singleNamespace, ownNamespace}, false, "mem"},
		{"", []string{singleNamespace, multiNamespace}, false, "error: p.v1 supports only SingleNamespace and MultiNamespace; pass the namespaces that it watches, as --install-mode SingleNamespace=NAMESPACE"},
		{"SingleNamespace=mem", Modes(), false, "error: mem is the operator's own namespace; that is --install-mode OwnNamespace"},
		{"SingleNamespace=a", Modes(), false, "a"},
		{"MultiNamespace=b,a", Modes(), false, "a,b"},
		{"AllNamespaces", []string{ownNamespace}, false, "error: p.v1 does not support the install mode AllNamespaces; it supports OwnNamespace"},
		{"OwnNamespace", Modes(), true, "error: p.v1 has conversion webhooks, for which OLM requires the install mode AllNamespaces"},
		{"AllNamespaces", Modes(), true, "all"},
	} {
		mode, err := ParseInstallMode(row.mode)
		if err != nil {
			t.Fatal(err)
		}
		targets, err := mode.Targets(Bundle{CSV: "p.v1", Modes: row.modes, Converts: row.converts}, "mem")
		got := strings.Join(targets, ",")
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case targets == nil:
			got = "all"
		}
		if got != row.want {
			t.Errorf("%+v: got %s", row, got)
		}
	}
}

// TestGroup checks which OperatorGroups of a namespace a run can use.
func TestGroup(t *testing.T) {
	t.Parallel()
	const all, own, two = `{"metadata": {"name": "g", "namespace": "mem"}}`, `{"metadata": {"name": "g", "namespace": "mem"}, "spec": {"targetNamespaces": ["mem"]}}`,
		`{"metadata": {"name": "g", "namespace": "mem"}, "spec": {"targetNamespaces": ["b", "a"]}}`
	for _, row := range []struct{ groups, mode, want string }{
		{"", "", "[] false"},
		{"", "OwnNamespace", "[mem] false"},
		{all, "", "[] true"},
		{own, "", "[mem] true"},
		{own, "OwnNamespace", "[mem] true"},
		{two, "MultiNamespace=a,b", "[a b] true"},
		{own, "AllNamespaces", "error: operatorgroup mem/g of the namespace has the install mode OwnNamespace=mem, not AllNamespaces; leave out --install-mode to use it, or choose another namespace"},
		{two, "", "error: operatorgroup mem/g of the namespace has the install mode MultiNamespace=a,b, but p.v1 supports only AllNamespaces, OwnNamespace; choose another namespace"},
		{`{"metadata": {"name": "g", "namespace": "mem"}, "spec": {"selector": {}, "targetNamespaces": ["c", "b"]}}`, "OwnNamespace", "[b c] true"},
		{`{"metadata": {"name": "g", "namespace": "mem"}, "spec": {"targetNamespaces": ["b"]}}`, "SingleNamespace=a", "error: operatorgroup mem/g of the namespace has the install mode SingleNamespace=b, not SingleNamespace=a; leave out --install-mode to use it, or choose another namespace"},
		{own + "," + all, "", "error: the namespace mem has 2 OperatorGroups (g, g), with which OLM installs nothing; delete all but one"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"items": [%s]}`, row.groups) }))
		t.Cleanup(server.Close)
		mode, err := ParseInstallMode(row.mode)
		if err != nil {
			t.Fatal(err)
		}
		modes := []string{allNamespaces, ownNamespace}
		if len(mode.Namespaces) > 0 {
			modes = Modes()
		}
		r := &run{RunOptions: RunOptions{Client: clientOf(t, server), Namespace: "mem", Mode: mode, Bundle: Bundle{CSV: "p.v1", Modes: modes}}}
		targets, group, err := r.group(t.Context())
		got := fmt.Sprint(targets, group != nil)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != row.want {
			t.Errorf("%+v: got %s", row, got)
		}
	}
}

func TestModeOf(t *testing.T) {
	t.Parallel()
	var got []string
	for _, targets := range [][]string{nil, {"mem"}, {"a"}, {"a", "mem"}} {
		got = append(got, modeOf(targets, "mem"))
	}
	if !slices.Equal(got, Modes()) {
		t.Errorf("got %q, want %q", got, Modes())
	}
}
