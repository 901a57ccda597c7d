package operator

import (
	"fmt"
	"maps"
	"testing"
)

const (
	subscriptions = olmPath + "subscriptions"
	csvs          = olmPath + "clusterserviceversions"
)

// withOLM returns a cluster with OLM and the namespace mem, and more.
func withOLM(more snapshot) snapshot {
	s := snapshot{
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/subscriptions.operators.coreos.com": `{"metadata": {"name": "x"}}`,
		"/api/v1/namespaces/mem": `{"metadata": {"name": "mem"}}`,
	}
	maps.Copy(s, more)
	return s
}

// TestFindInstalled checks which operators can be upgraded.
func TestFindInstalled(t *testing.T) {
	t.Parallel()
	item := func(status string) string {
		return `{"items": [{"metadata": {"name": "other", "namespace": "mem"}, "spec": {"name": "other"}},
			{"metadata": {"name": "s", "namespace": "mem"}, "spec": {"name": "mail", "source": "c", "sourceNamespace": "olm"}, "status": {` + status + `}}]}`
	}
	for name, row := range map[string]struct {
		cluster snapshot
		want    string
	}{
		"no OLM":          {snapshot{}, "error: OLM is not installed; 'operon olm install' installs it"},
		"no namespace":    {withOLM(snapshot{"/api/v1/namespaces/mem": ""}), "error: namespace mem not found; 'kubectl create namespace mem' creates it"},
		"no subscription": {withOLM(nil), "error: no Subscription to the package mail in the namespace mem; 'operon run bundle' installs it"},
		"not installed":   {withOLM(snapshot{subscriptions: item("")}), "error: subscription mem/s has installed nothing yet; 'operon run bundle' completes the installation"},
		"installed":       {withOLM(snapshot{subscriptions: item(`"installedCSV": "mail.v0"`)}), "{s mail.v0 operator-sdk-run-bundle olm/c}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mailRun(t, row.cluster)
			installed, err := FindInstalled(t.Context(), r.Client, "mem", "mail")
			got := ""
			if err != nil {
				got = "error: " + err.Error()
			} else {
				got = fmt.Sprint(*installed)
			}
			if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
	i := Installed{CSV: "mail.v1"}
	if i.Replaces("mail.v2") != "mail.v1" || i.Replaces("mail.v1") != "" {
		t.Error("an upgrade replaces what is installed, unless that is the new version")
	}
}

// TestPrepare checks what keeps a bundle from being installed, before anything is changed.
func TestPrepare(t *testing.T) {
	t.Parallel()
	const managed = `"labels": {"app.kubernetes.io/managed-by": "operon", "operon/package": "mail"}`
	subscription := func(metadata, status string) snapshot {
		return withOLM(snapshot{subscriptions: `{"items": [{"metadata": {"name": "s", "namespace": "mem"` + metadata + `}, "spec": {"name": "mail", "startingCSV": "mail.v1"}, "status": {` + status + `}}]}`})
	}
	csv := func(metadata string) snapshot {
		return withOLM(snapshot{csvs + "/mail.v1": `{"kind": "ClusterServiceVersion", "metadata": {"name": "mail.v1", "namespace": "mem"` + metadata + `}}`})
	}
	catalog := func(metadata, spec string) snapshot {
		return withOLM(snapshot{olmPath + "catalogsources/mail-catalog": `{"kind": "CatalogSource", "metadata": {"name": "mail-catalog", "namespace": "mem"` + metadata + `}, "spec": {` + spec + `}}`})
	}
	for name, row := range map[string]struct {
		cluster      snapshot
		want         string
		subscription string
		anyUser      bool
	}{
		"nothing": {cluster: withOLM(nil)},
		"OpenShift": {
			cluster: withOLM(snapshot{"/api/v1/namespaces/mem": `{"metadata": {"name": "mem", "annotations": {"openshift.io/sa.scc.uid-range": "1000/1"}}}`}), anyUser: true,
		},
		"interrupted":             {cluster: subscription(","+managed, ""), subscription: "s"},
		"interrupted at end":      {cluster: subscription(","+managed, `"installedCSV": "mail.v1"`), subscription: "s"},
		"another version":         {cluster: subscription(","+managed, `"installedCSV": "mail.v2"`), want: "subscription mem/s already subscribes to the package mail and has installed mail.v2; 'operon run bundle-upgrade' replaces it, 'operon cleanup mail' removes it"},
		"of somebody else":        {cluster: subscription("", ""), want: "subscription mem/s already subscribes to the package mail and has not installed it yet; 'operon run bundle-upgrade' replaces it, 'operon cleanup mail' removes it"},
		"copied":                  {cluster: csv(`, "labels": {"olm.copiedFrom": "global"}`), want: "mail.v1 is already installed for all namespaces, in the namespace global; 'operon cleanup mail' there removes it"},
		"without subscription":    {cluster: csv(""), want: "clusterserviceversion mem/mail.v1 already exists in the namespace without a Subscription; 'operon cleanup mail' removes it"},
		"catalog of the user":     {cluster: catalog("", ""), want: "catalogsource mem/mail-catalog was not created by this command, which would replace it; delete or rename it, or choose another namespace"},
		"catalog of Run":          {cluster: catalog(", "+managed, "")},
		"operator-sdk's":          {cluster: catalog("", `"publisher": "operator-sdk"`)},
		"catalog of another tool": {cluster: catalog(`, "labels": {"app.kubernetes.io/managed-by": "helm", "operon/package": "mail"}`, ""), want: "catalogsource mem/mail-catalog was not created by this command, which would replace it; delete or rename it, or choose another namespace"},
		"catalog of other Runs":   {cluster: catalog(`, "labels": {"app.kubernetes.io/managed-by": "operon", "operon/package": "other"}`, ""), want: "catalogsource mem/mail-catalog was not created by this command, which would replace it; delete or rename it, or choose another namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mailRun(t, row.cluster)
			_, group, err := r.prepare(t.Context())
			if got := fmt.Sprint(err); group != nil || got != row.want && (err != nil || row.want != "") {
				t.Errorf("got %v, want %s", err, row.want)
			}
			if row.subscription != "" && r.subscription != row.subscription || r.anyUser != row.anyUser {
				t.Errorf("the run is %+v", r)
			}
		})
	}
}

// TestLeftoverObject checks which objects of OLM a cleanup removes itself.
func TestLeftoverObject(t *testing.T) {
	t.Parallel()
	const managed = `"labels": {"olm.managed": "true"}`
	for name, row := range map[string]struct {
		object, namespace string
		want              bool
	}{
		"of OLM":               {object: `{"metadata": {` + managed + `}}`, want: true},
		"gone":                 {},
		"of the user":          {object: `{"metadata": {}}`},
		"with an owner":        {object: `{"metadata": {"ownerReferences": [{"name": "a"}], ` + managed + `}}`},
		"for another operator": {object: `{"metadata": {` + managed + `}, "subjects": [{"namespace": "other"}]}`, namespace: "kube-system"},
		"in its namespace":     {object: `{"metadata": {` + managed + `}, "subjects": [{"namespace": "other"}]}`, want: true},
		"for this operator":    {object: `{"metadata": {` + managed + `}, "subjects": [{"namespace": "other"}, {"namespace": "mem"}]}`, namespace: "kube-system", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := "mem"
			if row.namespace != "" {
				namespace = row.namespace
			}
			r := mailRun(t, snapshot{"/api/v1/namespaces/" + namespace + "/configmaps/m": row.object})
			c := &cleanup{CleanupOptions: CleanupOptions{Client: r.Client, Namespace: "mem", Package: "mail"}}
			live, err := c.leftoverObject(t.Context(), leftover{"v1", "ConfigMap", namespace, "m"})
			if err != nil || (live != nil) != row.want {
				t.Errorf("got %v, %v", live, err)
			}
		})
	}
}
