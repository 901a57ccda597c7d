package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

// A snapshot answers reads of a cluster in which nothing changes: the JSON of objects and lists by their paths.
type snapshot map[string]string

func (s snapshot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resources := map[string]string{
		"/apis/operators.coreos.com/v1alpha1": `{"name": "subscriptions", "kind": "Subscription", "namespaced": true}, {"name": "catalogsources", "kind": "CatalogSource", "namespaced": true},
			{"name": "clusterserviceversions", "kind": "ClusterServiceVersion", "namespaced": true}, {"name": "installplans", "kind": "InstallPlan", "namespaced": true}`,
		"/apis/apiextensions.k8s.io/v1": `{"name": "customresourcedefinitions", "kind": "CustomResourceDefinition"}`,
		"/apis/apps/v1":                 `{"name": "deployments", "kind": "Deployment", "namespaced": true}`,
		"/api/v1":                       `{"name": "namespaces", "kind": "Namespace"}, {"name": "configmaps", "kind": "ConfigMap", "namespaced": true}, {"name": "secrets", "kind": "Secret", "namespaced": true}`,
	}
	switch {
	case resources[r.URL.Path] != "":
		fmt.Fprintf(w, `{"resources": [%s]}`, resources[r.URL.Path])
	case s[r.URL.Path] != "":
		fmt.Fprint(w, s[r.URL.Path])
	default:
		http.NotFound(w, r)
	}
}

// mailRun is a run in a cluster.
func mailRun(t *testing.T, s snapshot) *run {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	o := mailOptions()
	o.Bundle.Package, o.Bundle.CSV = "mail", "mail.v1"
	o.Client = clientOf(t, server)
	return &run{RunOptions: o, subscription: "mail-v1-sub"}
}

const (
	olmPath  = "/apis/operators.coreos.com/v1alpha1/namespaces/mem/"
	unpulled = `"status": {"phase": "Pending", "containerStatuses": [{"name": "c", "image": "%s", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]}`
)

// TestFailed checks that the error of a run names what it found at each stage of an installation, and the remedies.
func TestFailed(t *testing.T) {
	t.Parallel()
	registry := mailRun(t, nil).registryName()
	for name, row := range map[string]struct {
		cluster     snapshot
		image, want string
	}{
		"nothing": {snapshot{}, "", `it failed (time is up)
what to do:
- pass a longer --timeout, and see 'kubectl get events --namespace mem'
`},
		"registry": {snapshot{
			"/apis/apps/v1/namespaces/mem/deployments/" + registry: `{"kind": "Deployment", "metadata": {"name": "r", "namespace": "mem"}, "spec": {"selector": {"matchLabels": {"a": "b"}}}}`,
			"/api/v1/namespaces/mem/pods":                          `{"items": [{"metadata": {"name": "p", "namespace": "mem"}, ` + fmt.Sprintf(unpulled, "opm") + `}]}`,
			olmPath + "catalogsources/mail-catalog":                `{"kind": "CatalogSource", "metadata": {"name": "c"}}`, // a consequence
		}, "", `it failed (time is up)
deployment mem/r: 0 of 1 replicas are updated
  pod p is Pending
    container c is waiting: ImagePullBackOff
what to do:
- the nodes cannot pull opm: push it to a registry that they can reach, pass --pull-secret-name, or set another image with --index-image or --decompression-image
`},
		"catalog": {snapshot{
			olmPath + "catalogsources/mail-catalog": `{"kind": "CatalogSource", "metadata": {"name": "mail-catalog", "namespace": "mem"}, "status": {"connectionState": {"lastObservedState": "CONNECTING"}}}`,
		}, "", `it failed (time is up)
catalogsource mem/mail-catalog: its pod does not respond yet: CONNECTING
what to do:
- catalog-operator must reach the registry's service on port 50051: check network policies and its log
`},
		"image of the catalog": {snapshot{
			olmPath + "catalogsources/mail-catalog": `{"kind": "CatalogSource", "metadata": {"name": "mail-catalog", "namespace": "mem"}}`,
			"/api/v1/namespaces/mem/pods":           `{"items": [{"metadata": {"name": "p", "namespace": "mem"}, ` + fmt.Sprintf(unpulled, "catalog:v1") + `}]}`,
		}, "catalog:v1", `it failed (time is up)
catalogsource mem/mail-catalog: its pod is not ready
  pod p is Pending
    container c is waiting: ImagePullBackOff
what to do:
- the nodes cannot pull the catalog catalog:v1: push it to a registry that they can reach, or pass --pull-secret-name
`},
		"resolution": {snapshot{
			olmPath + "subscriptions/mail-v1-sub": `{"kind": "Subscription", "metadata": {"name": "s", "namespace": "mem"}, "status": {"conditions": [{"type": "CatalogSourcesUnhealthy", "status": "False"},
				{"type": "ResolutionFailed", "status": "True", "reason": "ConstraintsNotSatisfiable", "message": "no operators found in package x"}]}}`,
		}, "", `it failed (time is up)
subscription mem/s: ResolutionFailed: ConstraintsNotSatisfiable: no operators found in package x
what to do:
- OLM cannot install it together with the installed operators: see the message, and dependencies.yaml of the bundle
`},
		"another catalog": {snapshot{
			olmPath + "subscriptions/mail-v1-sub": `{"kind": "Subscription", "metadata": {"name": "s", "namespace": "mem"}, "status": {"conditions": [
				{"type": "ResolutionFailed", "status": "True", "reason": "ErrorPreventedResolution", "message": "error using catalogsource olm/broken: no route"}]}}`,
		}, "", `it failed (time is up)
subscription mem/s: ResolutionFailed: ErrorPreventedResolution: error using catalogsource olm/broken: no route
what to do:
- OLM installs nothing while catalogsource olm/broken does not respond: repair it, or 'kubectl --namespace olm delete catalogsource broken'
`},
		"unpacking": {snapshot{
			olmPath + "subscriptions/mail-v1-sub":   `{"kind": "Subscription", "metadata": {"name": "s", "namespace": "mem"}, "status": {"conditions": [{"type": "BundleUnpacking", "status": "True"}]}}`,
			"/apis/batch/v1/namespaces/mem/jobs":    `{"items": [{"metadata": {"name": "done"}, "status": {"succeeded": 1}}, {"metadata": {"name": "j", "namespace": "mem"}}]}`,
			"/api/v1/namespaces/mem/pods":           `{"items": [{"metadata": {"name": "p", "namespace": "mem"}, ` + fmt.Sprintf(unpulled, "example.com/bundle:v1") + `}, {"metadata": {"name": "q", "namespace": "mem"}, ` + fmt.Sprintf(unpulled, "opm") + `}]}`,
			olmPath + "installplans/another-bundle": `{}`,
		}, "", `it failed (time is up)
subscription mem/s: BundleUnpacking
job mem/j: the bundle is not unpacked
  pod p is Pending
    container c is waiting: ImagePullBackOff
  pod q is Pending
    container c is waiting: ImagePullBackOff
what to do:
- the nodes cannot pull the bundle example.com/bundle:v1: push it to a registry that they can reach, or pass --pull-secret-name; a bundle directory needs no registry
- the nodes cannot pull opm, with which OLM unpacks bundles: push it to a registry that they can reach, or install OLM with --image-registry; a bundle directory needs no unpacking
`},
		"plan": {snapshot{
			olmPath + "subscriptions/mail-v1-sub": `{"kind": "Subscription", "metadata": {"name": "s", "namespace": "mem"}, "status": {"installPlanRef": {"name": "plan"}}}`,
			olmPath + "installplans/plan": `{"kind": "InstallPlan", "metadata": {"name": "plan", "namespace": "mem"}, "spec": {"clusterServiceVersionNames": ["mail.v1"]}, "status": {"phase": "Installing",
				"plan": [{"status": "Created"}, {"status": "Unknown", "resource": {"kind": "Role", "name": "r"}}]}}`,
		}, "", `it failed (time is up)
installplan mem/plan: its phase is Installing: OLM gives no reason
  Role r is Unknown
what to do:
`},
		"operator": {snapshot{
			olmPath + "clusterserviceversions/mail.v1": `{"kind": "ClusterServiceVersion", "metadata": {"name": "mail.v1", "namespace": "mem"}, "spec": {"install": {"spec": {"deployments": [{"name": "manager"}]}}},
				"status": {"phase": "Pending", "reason": "RequirementsNotMet", "message": "not all", "requirementStatus": [
				{"kind": "CustomResourceDefinition", "name": "x", "status": "NotPresent", "message": "CRD is not present"},
				{"kind": "ServiceAccount", "name": "s", "status": "Present", "dependents": [{"kind": "PolicyRule", "status": "NotSatisfied", "message": "rule"}, {"kind": "PolicyRule", "status": "Satisfied"}]}]}}`,
			"/apis/apps/v1/namespaces/mem/deployments/manager": `{"kind": "Deployment", "metadata": {"name": "manager", "namespace": "mem"}}`,
		}, "", `it failed (time is up)
clusterserviceversion mem/mail.v1: its phase is Pending: RequirementsNotMet: not all
  requirement customresourcedefinition x is NotPresent: CRD is not present
  PolicyRule is NotSatisfied: rule
deployment mem/manager: 0 of 1 replicas are updated
what to do:
- add what is missing to the bundle, or install what provides it, such as CRDs that the operator requires
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mailRun(t, row.cluster)
			r.Serving.CatalogImage = row.image
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errors.New("time is up"))
			failed := errors.New("it failed")
			err := r.failed(ctx, failed)
			want := row.want + "- run the command again to continue after fixing the cause; 'operon cleanup mail' removes the created objects"
			if err.Error() != want || !errors.Is(err, failed) {
				t.Errorf("got\n%v\nwant\n%s", err, want)
			}
		})
	}
}

// TestPermanentFailure checks which states of a ClusterServiceVersion end the wait.
func TestPermanentFailure(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		`phase: Failed, reason: UnsupportedOperatorGroup, message: m`: "UnsupportedOperatorGroup: m",
		`phase: Failed, reason: InvalidStrategy`:                      "InvalidStrategy",
		`phase: Failed, reason: InstallCheckFailed, message: m`:       "",
		`phase: Pending, reason: NoOperatorGroup, message: m`:         "",
		``: "",
	} {
		objects, err := kube.Decode([]byte("{apiVersion: v1, kind: ClusterServiceVersion, status: {" + status + "}}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := permanentFailure(objects[0]); got != want {
			t.Errorf("%s: got %q, want %q", status, got, want)
		}
	}
}

// TestPlanFailure checks that an unresolved Subscription fails only after many reads, and never while a catalog is unhealthy.
func TestPlanFailure(t *testing.T) {
	t.Parallel()
	subscription := func(conditions string) *kube.Object {
		objects, err := kube.Decode([]byte("{apiVersion: v1, kind: Subscription, status: {conditions: [" + conditions + "]}}"))
		if err != nil {
			t.Fatal(err)
		}
		return objects[0]
	}
	const unresolved = "{type: ResolutionFailed, status: 'True', reason: ConstraintsNotSatisfiable, message: m}"
	r := mailRun(t, nil)
	for read := 1; read <= unresolvedReads; read++ {
		if reason := r.planFailure(t.Context(), subscription(unresolved)); (reason != "") != (read == unresolvedReads) {
			t.Errorf("read %d: %q", read, reason)
		}
		if reason := r.planFailure(t.Context(), subscription("{type: CatalogSourcesUnhealthy, status: 'True'}, "+unresolved)); reason != "" {
			t.Errorf("with an unhealthy catalog: %q", reason)
		}
	}
	if r.planFailure(t.Context(), subscription("")); r.unresolved != 0 {
		t.Errorf("after it was resolved, %d reads count", r.unresolved)
	}
}

// TestPlanMessage and the texts of states.
func TestPlanMessage(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"conditions: [{type: Installed, status: 'False', message: why}], message: other": "why",
		"conditions: [{type: Installed, status: 'True', message: fine}], message: other": "other",
		"": "OLM gives no reason",
	} {
		objects, err := kube.Decode([]byte("{apiVersion: v1, kind: InstallPlan, status: {" + status + "}}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := planMessage(objects[0]); got != want {
			t.Errorf("%s: got %q, want %q", status, got, want)
		}
	}
}

// TestAccounts reads the accounts, certificates and definitions that a ClusterServiceVersion names.
func TestAccounts(t *testing.T) {
	t.Parallel()
	objects, err := kube.Decode([]byte(`{apiVersion: v1, kind: ClusterServiceVersion, spec: {
install: {spec: {deployments: [{name: b, spec: {template: {spec: {serviceAccountName: z}}}}, {name: a}, {name: c, spec: {template: {spec: {serviceAccountName: z}}}}]}},
webhookdefinitions: [{deploymentName: b}, {deploymentName: b}, {}], apiservicedefinitions: {owned: [{deploymentName: a}]},
customresourcedefinitions: {owned: [{name: x.y}, {name: x.y}, {}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{
		"accounts": accountsOf(objects[0]), "certificates": certificateDeployments(objects[0]), "deployments": deploymentsOf(objects[0]), "definitions": ownedBy(objects[0]),
	}
	want := map[string][]string{"accounts": {"default", "z"}, "certificates": {"a", "b"}, "deployments": {"b", "a", "c"}, "definitions": {"x.y", "x.y"}}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}
