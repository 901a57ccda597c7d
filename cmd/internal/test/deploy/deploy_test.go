//go:build unix

package deploy

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
)

// TestDeploy takes an operator with webhooks through its life in one cluster: each part needs what the one before it leaves.
func TestDeploy(t *testing.T) {
	t.Parallel()
	c := &cluster{WorkloadCluster: clitest.StartWorkloadCluster(t), dir: clitest.CopyGolden(t, "memcached-operator")}
	for _, part := range []struct {
		name string
		run  func(*cluster, *testing.T)
	}{
		{"kinds are missing", (*cluster).missingKinds},
		{"rights are missing", (*cluster).missingRights},
		{"the namespace is terminating", (*cluster).terminatingNamespace},
		{"first deployment", (*cluster).firstDeployment},
		{"conflicts", (*cluster).conflicts},
		{"prune", (*cluster).prune},
		{"invalid", (*cluster).invalid},
		{"large CRD", (*cluster).largeCRD},
		{"wait", (*cluster).wait},
		{"undeploy keeps data", (*cluster).undeployKeepsData},
		{"undeploy deletes CRDs", (*cluster).undeployDeletesCRDs},
		{"make deploy", (*cluster).makeDeploy},
		{"Helm and Ansible", (*cluster).otherLayouts},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(c, t) }) {
			return
		}
	}
}

// missingKinds deploys to a cluster without cert-manager.
func (c *cluster) missingKinds(t *testing.T) {
	c.unchanged(t, func() {
		_, errOut := c.operon(t, 1, "deploy", "--image", image)
		clitest.CheckContains(t, errOut, "objects can't be applied, and nothing was changed:",
			"certificate memcached-operator-system/memcached-operator-serving-cert: the cluster has no kind Certificate of cert-manager.io/v1",
			"install cert-manager in the cluster")
	})
	c.Apply(t, definition("cert-manager.io", "Certificate", "certificates")+"---\n"+definition("cert-manager.io", "Issuer", "issuers"))
	for _, name := range []string{"certificates.cert-manager.io", "issuers.cert-manager.io"} {
		c.Try(t, func() error { return c.Client.WaitEstablished(c.Context(), name, establishTime) })
	}
}

// definition returns a definition of a kind without a schema.
func definition(group, kind, plural string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[3]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[2]s, plural: %[3]s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group, kind, plural)
}

// missingRights deploys as a user who may only read.
func (c *cluster) missingRights(t *testing.T) {
	c.Apply(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: viewer}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view},
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: viewer}]}`)
	c.unchanged(t, func() {
		_, errOut := c.operonAs(t, c.KubeconfigAs(t, "viewer"), 1, "deploy", "--image", image)
		clitest.CheckContains(t, errOut, "customresourcedefinition "+crdName+": the cluster forbids it: ", "can't be applied, and nothing was changed", "ask an administrator of the cluster")
	})
}

// terminatingNamespace deploys to a namespace whose deletion something delays.
func (c *cluster) terminatingNamespace(t *testing.T) {
	c.Apply(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: stuck, namespace: "+namespace+", finalizers: [example.com/never]}}")
	c.Delete(t, "v1", "Namespace", "", namespace)
	const waiting = "waiting for namespace " + namespace + ", which is being deleted"
	text := patiently(waiting, func(timeout string) string {
		_, errOut := c.operon(t, 1, "deploy", "--image", image, "--timeout", timeout)
		return errOut
	})
	clitest.CheckContains(t, text, waiting, "namespace "+namespace+" is being deleted and still exists: not done within ", "fix what delays the deletion")
	c.Patch(t, kube.Named("v1", "ConfigMap", namespace, "stuck"), "", `{"metadata":{"finalizers":null}}`)
}

// firstDeployment deploys over objects that 'make deploy' has left, and once more.
func (c *cluster) firstDeployment(t *testing.T) {
	c.Try(t, func() error {
		if c.Get(t, "v1", "Namespace", "", namespace) != nil {
			return fmt.Errorf("the namespace still exists")
		}
		return nil
	})
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: memcached-operator-%s, labels: {old: label}}, rules: [{apiGroups: [old.example.com], resources: [old], verbs: [get]}]}"
	c.createAs(t, "kubectl-client-side-apply", fmt.Sprintf(role, "manager-role"))
	c.applyAs(t, "kubectl", fmt.Sprintf(role, "metrics-reader"))

	before := clitest.ReadTree(t, c.dir)
	c.unchanged(t, func() {
		out, errOut := c.operon(t, 0, "deploy", "--image", image, "--dry-run")
		clitest.CheckContains(t, out, "+++ b/deployment.apps/"+namespace+"/"+manager, "new file mode", "+        image: "+image, "-  - old.example.com")
		clitest.CheckContains(t, errOut, "clusterrole memcached-operator-manager-role was applied by kubectl: ", "memcached-operator would be deployed to the namespace "+namespace)
	})
	_, errOut := c.operon(t, 0, "deploy", "--image", image)
	last := -1
	for _, line := range []string{"created namespace " + namespace, "created configmap " + namespace + "/operon-memcached-operator", "created customresourcedefinition " + crdName,
		"configured clusterrole memcached-operator-manager-role", "created service " + namespace + "/memcached-operator-webhook-service",
		"created deployment " + namespace + "/" + manager, "created validatingwebhookconfiguration ", "memcached-operator is deployed to the namespace " + namespace + ": "} {
		at := position(t, errOut, line)
		if at < last {
			t.Errorf("%q is too early in\n%s", line, errOut)
		}
		last = at
	}
	if !maps.Equal(before, clitest.ReadTree(t, c.dir)) {
		t.Error("files of the project have changed")
	}
	for _, name := range []string{"manager-role", "metrics-reader"} {
		o := c.Get(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "memcached-operator-"+name)
		if text := fmt.Sprint(o.Object["rules"], o.GetLabels()); strings.Contains(text, "old") {
			t.Errorf("fields of kubectl remain: %s", text)
		}
	}
	_, errOut = c.operon(t, 0, "deploy", "--image", image)
	clitest.CheckContains(t, errOut, "0 created, 0 configured, ", "unchanged deployment "+namespace+"/"+manager)
}

// conflicts deploys over changes of other managers.
func (c *cluster) conflicts(t *testing.T) {
	deployment := kube.Named("apps/v1", "Deployment", namespace, manager)
	c.Patch(t, deployment, "/scale?fieldManager=kubectl", `{"spec":{"replicas":3}}`) // as kubectl scale
	c.applyAs(t, "labeler", fmt.Sprintf("{apiVersion: v1, kind: Service, metadata: {namespace: %s, name: memcached-operator-webhook-service, labels: {app.kubernetes.io/managed-by: other}}}", namespace))
	role := c.Get(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "memcached-operator-metrics-reader")
	id := role.GetLabels()["applyset.kubernetes.io/part-of"]
	c.Patch(t, role, "", `{"metadata":{"labels":{"applyset.kubernetes.io/part-of":"applyset-other-v1"}}}`)
	c.unchanged(t, func() {
		_, errOut := c.operon(t, 1, "deploy", "--image", image+"2")
		clitest.CheckContains(t, errOut, "3 of ", "can't be applied, and nothing was changed:", "deployment "+namespace+"/"+manager+`: spec.replicas is set to another value by "kubectl" (scale)`,
			`webhook-service: metadata.labels.app.kubernetes.io/managed-by is set to another value by "labeler"`,
			"clusterrole memcached-operator-metrics-reader: was deployed from another project or to another namespace (applyset-other-v1)", "take them over with --force-conflicts")
	})
	_, errOut := c.operon(t, 0, "deploy", "--image", image, "--force-conflicts")
	clitest.CheckContains(t, errOut, "configured deployment "+namespace+"/"+manager, "configured clusterrole memcached-operator-metrics-reader")
	live, err := c.Client.Get(c.Context(), deployment)
	if err != nil || kube.IntAt(live.Object, "spec", "replicas") != 1 {
		t.Errorf("%v, %v", live, err)
	}
	if got := c.Get(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", role.GetName()).GetLabels()["applyset.kubernetes.io/part-of"]; got != id {
		t.Errorf("the role is part of %s, want %s", got, id)
	}
}

// prune deploys a version with fewer objects.
func (c *cluster) prune(t *testing.T) {
	const service = "memcached-operator-controller-manager-metrics-service"
	clitest.EditFile(t, c.dir, "config/default/kustomization.yaml", "- metrics_service.yaml\n", "")
	clitest.EditFile(t, c.dir, "config/default/kustomization.yaml", "- ../crd\n", "")
	clitest.EditFile(t, c.dir, "config/manager/manager.yaml", "memcached:1.6.39-alpine", "memcached:1.6.40-alpine")
	c.unchanged(t, func() {
		out, errOut := c.operon(t, 0, "deploy", "--image", image, "--dry-run", "--prune")
		clitest.CheckContains(t, out, "-          value: memcached:1.6.39-alpine\n+          value: memcached:1.6.40-alpine\n",
			"diff --git a/service/"+namespace+"/"+service+" b/service/"+namespace+"/"+service+"\ndeleted file mode", "-  - name: https")
		clitest.CheckContains(t, errOut, "kept customresourcedefinition "+crdName+", which is no longer in the manifests: users' data would be lost with it", ", 1 pruned")
	})
	_, errOut := c.operon(t, 0, "deploy", "--image", image)
	clitest.CheckContains(t, errOut, "kept service "+namespace+"/"+service+", which an earlier version deployed and the manifests no longer contain; --prune deletes what is left over")
	c.exists(t, true, "v1", "Service", namespace, service)
	_, errOut = c.operon(t, 0, "deploy", "--image", image, "--prune")
	clitest.CheckContains(t, errOut, "pruned service "+namespace+"/"+service, ", 1 pruned")
	c.exists(t, false, "v1", "Service", namespace, service)
	c.exists(t, true, "apiextensions.k8s.io/v1", kube.CRDKind, "", crdName)
	_, errOut = c.operon(t, 0, "deploy", "--image", image, "--prune")
	clitest.CheckContains(t, errOut, "0 created, 0 configured, ")
	clitest.EditFile(t, c.dir, "config/default/kustomization.yaml", "- ../rbac\n", "- ../crd\n- ../rbac\n")
}

// invalid deploys a manifest with a typing error, and one with a change that the server never allows.
func (c *cluster) invalid(t *testing.T) {
	clitest.EditFile(t, c.dir, "config/manager/manager.yaml", "  replicas: 1\n", "  replicaz: 1\n")
	c.unchanged(t, func() {
		_, errOut := c.operon(t, 1, "deploy", "--image", image)
		clitest.CheckContains(t, errOut, "deployment "+namespace+"/"+manager+": the cluster rejects it: ", ".spec.replicaz: field not declared in schema")
	})
	clitest.EditFile(t, c.dir, "config/manager/manager.yaml", "  replicaz: 1\n", "  replicas: 1\n")
	clitest.EditFile(t, c.dir, "config/rbac/role_binding.yaml", "name: manager-role\n", "name: metrics-reader\n")
	c.unchanged(t, func() {
		_, errOut := c.operon(t, 1, "deploy", "--image", image)
		clitest.CheckContains(t, errOut, "clusterrolebinding memcached-operator-manager-rolebinding: a field can't be changed: ", "'kubectl delete clusterrolebinding memcached-operator-manager-rolebinding' lets the object be created again")
	})
	clitest.EditFile(t, c.dir, "config/rbac/role_binding.yaml", "name: metrics-reader\n", "name: manager-role\n")
}

// largeCRD deploys a definition that is too large for the annotation of kubectl apply.
func (c *cluster) largeCRD(t *testing.T) {
	file := filepath.Join(c.dir, "config", "crd", "bases", "cache.example.com_memcacheds.yaml")
	text := clitest.ReadFile(t, file)
	large := strings.Replace(text, "      openAPIV3Schema:\n", "      openAPIV3Schema:\n        title: "+strings.Repeat("long ", 1<<16)+"\n", 1)
	if len(large) < 300<<10 {
		t.Fatalf("the definition has only %d bytes", len(large))
	}
	clitest.WriteFile(t, file, large)
	_, errOut := c.operon(t, 0, "deploy", "--image", image)
	clitest.CheckContains(t, errOut, "configured customresourcedefinition "+crdName)
	clitest.WriteFile(t, file, text)
}

// wait waits for the manager and its webhooks, and explains what they lack.
func (c *cluster) wait(t *testing.T) {
	const available = "deployment " + namespace + "/" + manager + " is available"
	text := patiently(available, func(timeout string) string {
		_, errOut := c.operon(t, 1, "deploy", "--image", image, "--wait", "--timeout", timeout)
		return errOut
	})
	clitest.CheckContains(t, text, available, "cert-manager has not injected the CA of the certificate "+namespace+"/memcached-operator-serving-cert (not done within ",
		"the log of cert-manager's cainjector")
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		prefix := strings.ToLower(strings.TrimSuffix(kind, "WebhookConfiguration"))
		o := c.Get(t, "admissionregistration.k8s.io/v1", kind, "", "memcached-operator-"+prefix+"-webhook-configuration")
		for i := range kube.ListAt(o.Object, "webhooks") {
			c.patchJSON(t, o, fmt.Sprintf(`[{"op":"add","path":"/webhooks/%d/clientConfig/caBundle","value":"%s"}]`, i, c.caBundle()))
		}
	}
	_, errOut := c.operon(t, 0, "deploy", "--image", image, "--wait")
	clitest.CheckContains(t, errOut, "0 created, 0 configured, ")

	// The namespace rejects the pods: waiting longer doesn't help.
	c.Patch(t, kube.Named("v1", "Namespace", "", namespace), "", `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	clitest.EditFile(t, c.dir, "config/manager/manager.yaml", "allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true")
	_, errOut = c.operon(t, 1, "deploy", "--image", image, "--wait", "--timeout", "5m")
	clitest.CheckContains(t, errOut, "is deployed, but not ready: the namespace rejects its pods: ", "violates PodSecurity")
	clitest.EditFile(t, c.dir, "config/manager/manager.yaml", "allowPrivilegeEscalation: true", "allowPrivilegeEscalation: false")

	// An image that no registry has: waiting longer doesn't help.
	clitest.EditFile(t, c.dir, "config/manager/manager.yaml", "memcached:1.6.40-alpine", "memcached:1.6.41-alpine")
	stop := c.failPods(t, "example.com/memcached-operator:missing")
	_, errOut = c.operon(t, 1, "deploy", "--image", "example.com/memcached-operator:missing", "--wait", "--timeout", "5m")
	stop()
	clitest.CheckContains(t, errOut, "is deployed, but not ready: pod ", "the image example.com/memcached-operator:missing of container manager cannot be pulled", "pass another one with --image")
	_, errOut = c.operon(t, 0, "deploy", "--image", image, "--wait")
	clitest.CheckContains(t, errOut, "is available")
}
