package olm

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// TestFind reads installations as objects of a cluster state them.
func TestFind(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		objects, version, source, other string
		present                         bool
		contradictions                  []string
	}{
		"nothing":    {},
		"definition": {objects: crdOfCSVs, present: true},
		"role":       {objects: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "system:controller:operator-lifecycle-manager"}}`, present: true},
		"binding":    {objects: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: olm-operator-binding-olm}}`, present: true},
		"binding of another namespace": {
			objects: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: olm-operator-binding-platform}}`,
		},
		"image": {
			objects: fmt.Sprintf(deploymentOf, "olm", "v0.28.0"), present: true, version: "v0.28.0", source: "the image of deployment olm/olm-operator",
		},
		"elsewhere": {objects: fmt.Sprintf(deploymentOf, "platform", "v0.28.0"), other: "platform"},
		"another program": {
			objects: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: olm-operator, namespace: a}, spec: {template: {spec: {containers: [{command: [/bin/sh]}, {}]}}}}",
		},
		"same version": {
			objects: crdOfCSVs + fmt.Sprintf(csvOf, "0.28.0") + fmt.Sprintf(deploymentOf, "olm", "v0.28.0"), present: true, version: "v0.28.0", source: "the packageserver ClusterServiceVersion",
		},
		"other version": {
			objects: crdOfCSVs + fmt.Sprintf(csvOf, "0.27.0") + fmt.Sprintf(deploymentOf, "olm", "v0.28.0"), present: true, version: "v0.27.0", source: "the packageserver ClusterServiceVersion",
			contradictions: []string{"v0.28.0 according to the image of deployment olm/olm-operator"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.add(t, row.objects)
			got := c.found(t, "olm")
			if got.Version != row.version || got.Source != row.source || got.Present != row.present || got.otherNamespace != row.other || !slices.Equal(got.Contradictions, row.contradictions) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestForbidden checks that reads say which permissions are missing.
func TestForbidden(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.refuse = func(*http.Request) (int, string) { return http.StatusForbidden, "no rights" }
	_, find := Find(t.Context(), c.client, "olm")
	_, inventory := Inventory(t.Context(), c.client, &Installation{Namespace: "olm"})
	_, examine := Examine(t.Context(), c.client, &Installation{Namespace: "olm"}, &Release{Objects: []*kube.Object{kube.Named("v1", "Namespace", "", "olm")}})
	uninstall := Uninstall(t.Context(), UninstallOptions{Client: c.client, Found: &Installation{Namespace: "olm"}, Data: &UserData{}})
	for name, err := range map[string]error{"find": find, "inventory": inventory, "examine": examine, "uninstall": uninstall} {
		if err == nil || !strings.HasPrefix(err.Error(), "the cluster rejects this user: ") || !strings.Contains(err.Error(), "no rights; OLM needs cluster-admin") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := ExplainForbidden(nil); err != nil {
		t.Errorf("no error: %v", err)
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ installed, expected, want string }{
		{"v0.28.0", "", ""},
		{"v0.28.0", Latest, ""},
		{"", "v0.28.0", ""},
		{"v0.16.1", "0.16.1", ""},
		{"v0.28.0", "v0.46.0", "OLM v0.28.0 is installed according to an object, not v0.46.0; leave out --version to use the installed version"},
	} {
		err := (&Installation{Version: row.installed, Source: "an object"}).CheckVersion(row.expected)
		if got := fmt.Sprint(err); got != row.want && (err != nil || row.want != "") {
			t.Errorf("%+v: got %v", row, err)
		}
	}
}

// TestExamine compares installations with a release.
func TestExamine(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.settle = c.runOLM
	c.install(t)
	examine := func(release *Release) (*Status, map[string]Row) {
		status, err := Examine(t.Context(), c.client, c.found(t, DefaultNamespace), release)
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]Row{}
		for _, row := range status.Objects {
			rows[row.Kind+" "+row.Name] = row
		}
		return status, rows
	}
	status, rows := examine(embedded(t))
	if !status.Healthy || len(status.Problems()) > 0 || len(rows) != 29 || status.Version != DefaultVersion {
		t.Errorf("installed: %+v", status)
	}
	if row := rows["CatalogSource operatorhubio-catalog"]; row.Status != StatusNotReady || row.Reason != "not processed by catalog-operator yet" {
		t.Errorf("a new catalog: %+v", row)
	}
	c.mutex.Lock()
	for path, o := range c.objects {
		switch kube.FullName(o) {
		case "catalogsource olm/operatorhubio-catalog", "deployment olm/olm-operator", "clusterrole aggregate-olm-edit":
			delete(c.objects, path)
		case "deployment olm/catalog-operator":
			o.Object["spec"].(map[string]any)["replicas"] = int64(0)
		case "namespace operators":
			markDeleted(o)
		case "apiservice v1.packages.operators.coreos.com":
			o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": "False", "message": "not reachable"}}}
		}
	}
	c.mutex.Unlock()
	status, rows = examine(embedded(t))
	for name, want := range map[string]Row{
		"CatalogSource operatorhubio-catalog": {Status: StatusLeftOut, Reason: "the catalog is not installed"},
		"Deployment olm-operator":             {Status: StatusMissing},
		"ClusterRole aggregate-olm-edit":      {Status: StatusMissing},
		"Deployment catalog-operator":         {Status: StatusNotReady, Reason: "scaled to 0 replicas"},
		"Namespace operators":                 {Status: StatusDeleting, Reason: "is being deleted"},
		"ClusterServiceVersion packageserver": {Status: StatusNotReady, Reason: "apiservice v1.packages.operators.coreos.com: not reachable"},
		"Namespace olm":                       {Status: StatusInstalled},
	} {
		if got := rows[name]; got.Status != want.Status || got.Reason != want.Reason {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if d := rows["Deployment catalog-operator"].Differences; len(d) != 1 || d[0] != (Difference{Path: "spec.replicas", Cluster: "0", Release: "1"}) {
		t.Errorf("differences: %v", d)
	}
	want := []string{
		"namespace operators: is being deleted", "deployment olm/olm-operator is missing", "deployment olm/catalog-operator: scaled to 0 replicas",
		"clusterrole aggregate-olm-edit is missing", "clusterserviceversion olm/packageserver: apiservice v1.packages.operators.coreos.com: not reachable",
	}
	var problems []string
	for _, f := range status.Problems() {
		problems = append(problems, f.Error())
	}
	if status.Healthy || !slices.Equal(problems, want) {
		t.Errorf("problems %q, want %q", problems, want)
	}
	_, rows = examine(embedded(t).namesOnlyRelease())
	if got := rows["ClusterRole aggregate-olm-edit"]; got.Status != StatusUnknown {
		t.Errorf("an object that the installed version may not have: %+v", got)
	}
	if got := rows["Deployment olm-operator"]; got.Status != StatusMissing {
		t.Errorf("an object that all versions have: %+v", got)
	}
}

// TestPackageServer checks the health of the packageserver, which OLM deploys itself.
func TestPackageServer(t *testing.T) {
	t.Parallel()
	const csv = `{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: packageserver, namespace: olm},
spec: {install: {spec: {deployments: [{name: other, spec: {x: 1}}, {name: packageserver, spec: {replicas: 1, template: {spec: {containers: [{name: c, image: new}]}}}}]}}}, status: {%s}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: packageserver, namespace: olm}, spec: {replicas: 1, template: {spec: {containers: [{name: c, image: %s}]}}}, status: {updatedReplicas: 1, replicas: 1, availableReplicas: 1}}`
	const service = `
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.packages.operators.coreos.com}, status: {conditions: [{type: Available, status: "True"}]}}`
	for name, row := range map[string]struct{ objects, want string }{
		"ready":         {fmt.Sprintf(csv, "phase: Succeeded", "new") + service, ""},
		"not processed": {fmt.Sprintf(csv, "", "new") + service, "not processed by olm-operator yet"},
		"failed":        {fmt.Sprintf(csv, "phase: Failed, message: m", "new") + service, "its phase is Failed: m"},
		"former image":  {fmt.Sprintf(csv, "phase: Succeeded", "old") + service, "deployment olm/packageserver: not updated by olm-operator yet: spec.template.spec.containers[c].image differs"},
		"no service":    {fmt.Sprintf(csv, "phase: Succeeded", "new"), "apiservice v1.packages.operators.coreos.com: is missing"},
		"named already": {fmt.Sprintf(csv, "phase: Failed, message: 'APIService v1.packages.operators.coreos.com is missing'", "old"), "its phase is Failed: APIService v1.packages.operators.coreos.com is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.add(t, strings.Replace(crdOfCSVs, "---", "", 1)+"\n---\n"+row.objects)
			s, err := inspect(t.Context(), c.client, kube.Named(V1Alpha1, CSVKind, "olm", packageServer))
			if err != nil || s.Ready != (row.want == "") || s.Reason != row.want {
				t.Errorf("got %+v, %v", s.Health, err)
			}
		})
	}
}

func TestCatalogHealth(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"connectionState: {lastObservedState: READY}, message: old":        "",
		"connectionState: {lastObservedState: CONNECTING}, message: other": "its pod does not respond yet: CONNECTING",
		"message: bad image": "bad image",
		"":                   "not processed by catalog-operator yet",
	} {
		objects, err := kube.Decode([]byte("{apiVersion: v1, kind: CatalogSource, status: {" + status + "}}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := CatalogHealth(objects[0]); got.Ready != (want == "") || got.Reason != want {
			t.Errorf("%s: got %+v, want %q", status, got, want)
		}
	}
}

// TestDiagnosis checks the text with details and advice, each of which is given once.
func TestDiagnosis(t *testing.T) {
	t.Parallel()
	var d Diagnosis
	if got := d.Err("it failed", nil).Error(); got != "it failed" {
		t.Errorf("empty: %q", got)
	}
	d.AddProblem("pod a/b", "waits", diag.Finding{Problem: "for c"}, diag.Finding{Problem: "for d"})
	d.Advise("repair %s", "it")
	d.Advise("repair it")
	if got := d.Err("it failed", nil).Error(); got != "it failed\npod a/b: waits\n  for c\n  for d\nwhat to do:\n- repair it" {
		t.Errorf("got %q", got)
	}
}

// TestReporter checks that a wait is reported once, and nothing without a receiver.
func TestReporter(t *testing.T) {
	t.Parallel()
	reporter, messages := recorder()
	for _, what := range []string{"a", "a", "b", "a"} {
		reporter.Waitf("waiting for %s", what)
	}
	reporter.Reportf("done %d", 1)
	if want := []string{"waiting for a", "waiting for b", "waiting for a", "done 1"}; !slices.Equal(*messages, want) {
		t.Errorf("got %q, want %q", *messages, want)
	}
	(&Reporter{}).Waitf("a")
	(&Reporter{}).Reportf("a")
}

// TestFetchInstalled checks with what an installation is compared if its version is unknown or cannot be downloaded.
func TestFetchInstalled(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		installed, expected, version, progress string
		namesOnly                              bool
	}{
		"embedded":    {installed: DefaultVersion, version: DefaultVersion},
		"unknown":     {version: DefaultVersion, progress: "the installed version is unknown: comparing with v0.46.0; --version selects another one"},
		"expected":    {expected: DefaultVersion, version: DefaultVersion},
		"unreachable": {installed: "v0.45.0", version: DefaultVersion, namesOnly: true, progress: "comparing with the objects of v0.46.0 instead, without their fields"},
	} {
		var progress []string
		r, err := FetchInstalled(t.Context(), site{}, &Installation{Namespace: "platform", Version: row.installed}, row.expected, func(line string) { progress = append(progress, line) })
		if err != nil || r.Version != row.version || r.namesOnly != row.namesOnly || r.object("Deployment", olmOperator).GetNamespace() != "platform" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if got := strings.Join(progress, "\n"); !strings.Contains(got, row.progress) || row.progress == "" && got != "" {
			t.Errorf("%s: progress %q", name, got)
		}
	}
}
