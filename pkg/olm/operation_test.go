package olm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// runOLM plays Kubernetes' and OLM's controllers in a cluster where everything becomes ready at once.
func (c *cluster) runOLM(o *kube.Object) {
	switch o.GetKind() {
	case "Deployment":
		o.Object["status"] = map[string]any{"updatedReplicas": int64(2), "replicas": int64(2), "availableReplicas": int64(2)}
	case "APIService":
		o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
	case CSVKind:
		o.Object["status"] = map[string]any{"phase": "Succeeded"}
		deployment := kube.Named("apps/v1", "Deployment", o.GetNamespace(), packageServer)
		deployment.Object["spec"] = kube.ValueAt(kube.ListAt(o.Object, "spec", "install", "spec", "deployments")[0], "spec")
		deployment.SetLabels(map[string]string{"olm.owner": packageServer})
		for _, part := range []*kube.Object{deployment, kube.Named("apiregistration.k8s.io/v1", "APIService", "", packagesAPI)} {
			c.runOLM(part)
			c.put(part)
		}
	}
}

// embedded returns a release of its own.
func embedded(t *testing.T) *Release {
	t.Helper()
	r, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// recorder returns a reporter, and the messages that it receives.
func recorder() (Reporter, *[]string) {
	messages := &[]string{}
	return Reporter{Progress: func(e Event) { *messages = append(*messages, e.Message) }}, messages
}

// install installs the embedded release and returns the messages.
func (c *cluster) install(t *testing.T) []string {
	t.Helper()
	reporter, messages := recorder()
	if err := Install(deadline(t), InstallOptions{Client: c.client, Release: embedded(t), Namespace: DefaultNamespace, Reporter: reporter}); err != nil {
		t.Fatal(err)
	}
	return *messages
}

// untilWaiting returns a context whose time is up when the reporter receives a message that starts with prefix.
func untilWaiting(t *testing.T, prefix string) (context.Context, Reporter) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(deadline(t))
	return ctx, Reporter{Progress: func(e Event) {
		if strings.HasPrefix(e.Message, prefix) {
			cancel(errors.New("time is up"))
		}
	}}
}

// deadline returns a context that ends long before the test's time is up.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("the test waits for something that never comes"))
	t.Cleanup(cancel)
	return ctx
}

// found returns the installation.
func (c *cluster) found(t *testing.T, namespace string) *Installation {
	t.Helper()
	found, err := Find(t.Context(), c.client, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestInstall installs OLM twice: definitions come first, everything is checked before anything is changed, and the second
// time nothing is.
func TestInstall(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.settle = c.runOLM
	checks := 0
	c.refuse = func(r *http.Request) (int, string) {
		if r.URL.Query().Get("dryRun") == "All" {
			if checks++; len(c.changes) > 0 {
				t.Errorf("%s is checked after the first change", r.URL.Path)
			}
		}
		return 0, ""
	}
	messages := c.install(t)
	if checks == 0 {
		t.Error("nothing was checked before the installation")
	}
	all := embedded(t).All()
	var want []string
	for _, o := range all {
		want = append(want, "created "+kube.FullName(o))
	}
	want = append(want, "deployment olm/olm-operator is ready", "deployment olm/catalog-operator is ready", "clusterserviceversion olm/packageserver is ready",
		"catalogsource olm/operatorhubio-catalog is not ready yet: not processed by catalog-operator yet; OLM works without it, and 'operon olm status' shows its state")
	if !slices.Equal(messages, want) {
		t.Errorf("messages:\n%s\nwant\n%s", strings.Join(messages, "\n"), strings.Join(want, "\n"))
	}
	for _, o := range all {
		if c.live(o.GetKind(), o.GetNamespace(), o.GetName()) == nil {
			t.Errorf("%s is not stored", kube.FullName(o))
		}
	}
	c.changes = nil
	messages = c.install(t)
	if messages[0] != "OLM is already installed; repairing what is missing or differs" {
		t.Errorf("second run: %s", messages[0])
	}
	for _, message := range messages[1 : 1+len(all)] {
		if !strings.HasPrefix(message, "unchanged ") {
			t.Errorf("second run: %s", message)
		}
	}
}

const (
	// deploymentOf and csvOf are an installation's olm-operator in a namespace, and its packageserver with a version.
	deploymentOf = `
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: olm-operator, namespace: %s},
spec: {template: {spec: {containers: [{command: [/bin/olm], image: "quay.io/operator-framework/olm:%s"}]}}}}`
	csvOf = `
---
{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: packageserver, namespace: olm, labels: {olm.version: %s}}}`
	crdOfCSVs = `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: clusterserviceversions.operators.coreos.com},
spec: {group: operators.coreos.com, scope: Namespaced, names: {plural: clusterserviceversions, kind: ClusterServiceVersion}, versions: [{name: v1alpha1, served: true, storage: true}]}}`
)

// TestInstallRefused checks that nothing changes when an installation is refused.
func TestInstallRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		present string
		refuse  func(r *http.Request) (int, string)
		upgrade bool
		want    string
	}{
		"another namespace": {present: fmt.Sprintf(deploymentOf, "platform", "v0.46.0"), want: "OLM runs in the namespace platform; "},
		"OpenShift":         {present: fmt.Sprintf(deploymentOf, "openshift-olm", "v0.46.0"), want: "OLM in the namespace openshift-olm is part of this OpenShift cluster, which manages it"},
		"newer":             {present: crdOfCSVs + fmt.Sprintf(csvOf, "v9.0.0"), upgrade: true, want: "OLM v9.0.0 is installed according to the packageserver ClusterServiceVersion, which is newer than v0.46.0; OLM cannot be downgraded"},
		"older":             {present: crdOfCSVs + fmt.Sprintf(csvOf, "0.28.0"), want: "OLM v0.28.0 is installed according to the packageserver ClusterServiceVersion; --upgrade replaces it with v0.46.0 and keeps the operators"},
		"forbidden": {refuse: func(r *http.Request) (int, string) {
			if strings.Contains(r.URL.Path, "/clusterroles/") && r.Method == http.MethodPatch {
				return http.StatusForbidden, "no\n rights"
			}
			return 0, ""
		}, want: "the cluster forbids this user 3 of 29 objects, and nothing was changed:\n  clusterrole system:controller:operator-lifecycle-manager: no rights\n"},
		"rejected": {refuse: func(r *http.Request) (int, string) {
			if strings.Contains(r.URL.Path, "/v1/namespaces/operators") && !strings.Contains(r.URL.Path, "networking") && r.Method == http.MethodPatch {
				return http.StatusUnprocessableEntity, "a policy"
			}
			return 0, ""
		}, want: "the cluster rejects 1 of 29 objects, and nothing was changed:\n  namespace operators: a policy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.add(t, row.present)
			if row.refuse != nil {
				c.refuse = row.refuse
			}
			err := Install(deadline(t), InstallOptions{Client: c.client, Release: embedded(t), Namespace: DefaultNamespace, Upgrade: row.upgrade})
			if err == nil || !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
			if len(c.changes) > 0 {
				t.Errorf("changed %s", c.changes)
			}
		})
	}
}

// TestInstallUpgrade replaces an older version, whose pods keep tokens of a service account that does not exist any more.
func TestInstallUpgrade(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.settle = c.runOLM
	c.add(t, crdOfCSVs+fmt.Sprintf(csvOf, "v0.28.0")+`
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: olm-operator-serviceaccount, namespace: olm, creationTimestamp: "2026-01-02T00:00:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: old, namespace: olm, creationTimestamp: "2026-01-01T00:00:00Z", ownerReferences: [{kind: ReplicaSet, controller: true}]}, spec: {serviceAccountName: olm-operator-serviceaccount}}
---
{apiVersion: v1, kind: Pod, metadata: {name: new, namespace: olm, creationTimestamp: "2026-01-03T00:00:00Z", ownerReferences: [{kind: ReplicaSet, controller: true}]}, spec: {serviceAccountName: olm-operator-serviceaccount}}
---
{apiVersion: v1, kind: Pod, metadata: {name: job, namespace: olm, creationTimestamp: "2026-01-01T00:00:00Z", ownerReferences: [{kind: Job, controller: true}]}, spec: {serviceAccountName: olm-operator-serviceaccount}}
---
{apiVersion: v1, kind: Pod, metadata: {name: other, namespace: olm, creationTimestamp: "2026-01-01T00:00:00Z", ownerReferences: [{kind: ReplicaSet, controller: true}]}, spec: {serviceAccountName: mine}}`)
	reporter, messages := recorder()
	err := Install(deadline(t), InstallOptions{Client: c.client, Release: embedded(t), Namespace: DefaultNamespace, Upgrade: true, Reporter: reporter})
	if err != nil || (*messages)[0] != "upgrading OLM from v0.28.0 to v0.46.0" {
		t.Errorf("got %v, %q", err, *messages)
	}
	if !slices.Contains(*messages, "restarted pod olm/old, which is older than serviceaccount olm/olm-operator-serviceaccount") {
		t.Errorf("messages: %q", *messages)
	}
	for pod, kept := range map[string]bool{"old": false, "new": true, "job": true, "other": true} {
		if (c.live("Pod", "olm", pod) != nil) != kept {
			t.Errorf("pod %s: kept should be %t", pod, kept)
		}
	}
}

// TestInstallNotReady checks that an installation whose time is up names the causes and the remedies.
func TestInstallNotReady(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.settle = func(o *kube.Object) {
		switch o.GetKind() {
		case "Deployment":
			o.Object["status"] = map[string]any{"updatedReplicas": int64(1), "replicas": int64(1)}
		case CSVKind:
			o.Object["status"] = map[string]any{"phase": "Failed", "message": "no permission", "requirementStatus": []any{
				map[string]any{"kind": "ServiceAccount", "name": "s", "status": "NotPresent", "message": "create it"},
				map[string]any{"kind": "ClusterRole", "name": "r", "status": "Present"},
			}}
		}
	}
	c.add(t, `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: olm, labels: {app: olm-operator}}, status: {phase: Pending, containerStatuses: [
{name: c, image: quay.io/x, state: {waiting: {reason: ImagePullBackOff}}}]}}`)
	ctx, reporter := untilWaiting(t, "waiting for deployment olm/olm-operator: ")
	err := Install(ctx, InstallOptions{Client: c.client, Release: embedded(t), Namespace: DefaultNamespace, Reporter: reporter})
	if err == nil || err.Error() != `OLM is not ready: time is up
deployment olm/olm-operator: 0 of 1 updated replicas are available
  pod p is Pending
    container c is waiting: ImagePullBackOff
deployment olm/catalog-operator: 0 of 1 updated replicas are available
  it has no pods
clusterserviceversion olm/packageserver: its phase is Failed: no permission
  requirement serviceaccount s is NotPresent: create it
what to do:
- the nodes cannot pull quay.io/x: pass --image-registry with a registry that they can reach and that has it, or --olm-image
- run 'operon olm install' again to continue, with a longer --timeout if the cluster is slow` {
		t.Errorf("got %v", err)
	}
}

// TestNotReady explains a definition, and parts of the packageserver.
func TestNotReady(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ objects, kind, object, want string }{
		"definition": {`
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: clusterserviceversions.operators.coreos.com},
status: {conditions: [{type: Established, status: "False", reason: Taken, message: the names are taken}]}}`, kube.CRDKind, "clusterserviceversions.operators.coreos.com", `
customresourcedefinition clusterserviceversions.operators.coreos.com: Taken: the names are taken
  condition Established=False: Taken the names are taken`},
		"packageserver": {crdOfCSVs + `
---
{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: packageserver, namespace: olm}, status: {phase: Installing}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: packageserver, namespace: olm}, spec: {selector: {matchLabels: {app: packageserver}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: olm, labels: {app: packageserver}}, status: {phase: Running, containerStatuses: [{name: c, state: {terminated: {exitCode: 2, reason: Error}}}]}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.packages.operators.coreos.com}, status: {conditions: [{type: Available, status: "False", message: no route}]}}`, CSVKind, packageServer, `
clusterserviceversion olm/packageserver: its phase is Installing
deployment olm/packageserver: 0 of 1 replicas are updated
  pod p is Running
    container c exited with code 2: Error
apiservice v1.packages.operators.coreos.com: no route
what to do:
- the lines above show why deployment olm/packageserver exits; an image of another version rejects its arguments
- the API server must reach the pods of service olm/packageserver-service on port 5443: check firewalls and network policies between them`},
		"ignored": {crdOfCSVs + `
---
{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: packageserver, namespace: olm}}`, CSVKind, packageServer, `
clusterserviceversion olm/packageserver: not processed by olm-operator yet
what to do:
- olm-operator runs, but does not process clusterserviceversion olm/packageserver: see 'kubectl logs deployment/olm-operator --namespace olm'`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.add(t, row.objects)
			live := c.live(row.kind, map[string]string{packageServer: "olm"}[row.object], row.object)
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errors.New("time is up"))
			err := (&installation{InstallOptions: InstallOptions{Client: c.client}}).notReady(ctx, []*kube.Object{live})
			text := strings.Replace(err.Error(), "\n- run 'operon olm install' again to continue, with a longer --timeout if the cluster is slow", "", 1)
			if text = strings.TrimSuffix(text, "\nwhat to do:"); text != "OLM is not ready: time is up"+row.want {
				t.Errorf("got\n%s\nwant\n%s", text, row.want)
			}
		})
	}
}

// TestInstallStopped checks that errors in the middle say how to go on.
func TestInstallStopped(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		http.StatusForbidden:  "the cluster rejects this user: applying deployment olm/olm-operator: no; OLM needs cluster-admin; fix the cause and install again to continue",
		http.StatusBadRequest: "applying deployment olm/olm-operator: no; fix the cause and install again to continue",
	} {
		c := newCluster(t)
		c.settle = c.runOLM
		c.refuse = func(r *http.Request) (int, string) {
			if strings.HasSuffix(r.URL.Path, "/deployments/olm-operator") && r.Method == http.MethodPatch && r.URL.Query().Get("dryRun") == "" {
				return code, "no"
			}
			return 0, ""
		}
		if err := Install(deadline(t), InstallOptions{Client: c.client, Release: embedded(t), Namespace: DefaultNamespace}); err == nil || err.Error() != want {
			t.Errorf("%d: got %v, want %s", code, err, want)
		}
	}
}
