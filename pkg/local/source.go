package local

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// A source is where the manifests of an operator are from: a project, or Options.Manifests. The caller may change the objects.
type source interface {
	// crds are the definitions of custom resources, webhooks the configurations of webhooks, and samples custom resources.
	crds() ([]*kube.Object, error)
	webhooks() ([]*kube.Object, error)
	samples() ([]*kube.Object, error)
	// manager contains the Deployment of the manager, if there is one.
	manager() ([]*kube.Object, error)
	// deployed are all objects that are applied to a cluster; none if that isn't known.
	deployed() ([]*kube.Object, error)
	// webhookPort is the port of the manager's webhook server, and servesWebhooks reports whether it has one.
	webhookPort() (int, error)
	servesWebhooks() bool
	// name says where the manifests are.
	name() string
}

// isGiven reports whether the operator is as Options.Manifests say: in their namespace, with their names.
func (r *runner) isGiven() bool { return len(r.o.Manifests) > 0 }

func (r *runner) source() source {
	if r.isGiven() {
		return givenManifests(r.o.Manifests)
	}
	return projectManifests{root: r.o.Root, config: r.o.Config, build: r.o.Build}
}

// ofKinds returns the objects of some kinds.
func ofKinds(objects []*kube.Object, kinds ...string) []*kube.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o *kube.Object) bool { return !slices.Contains(kinds, o.GetKind()) })
}

// givenManifests are the manifests of an operator that need not be a project.
type givenManifests []*kube.Object

func (m givenManifests) ofKinds(kinds ...string) ([]*kube.Object, error) {
	objects := ofKinds(m, kinds...)
	for i, o := range objects {
		objects[i] = o.DeepCopy()
	}
	return objects, nil
}

func (m givenManifests) crds() ([]*kube.Object, error) { return m.ofKinds(kube.CRDKind) }

func (m givenManifests) webhooks() ([]*kube.Object, error) {
	return m.ofKinds("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
}

func (m givenManifests) samples() ([]*kube.Object, error) { return nil, nil }

func (m givenManifests) manager() ([]*kube.Object, error) { return m, nil }

func (m givenManifests) deployed() ([]*kube.Object, error) { return m, nil }

func (m givenManifests) name() string { return "its manifests" }

func (m givenManifests) servesWebhooks() bool {
	found, _ := m.webhooks() // never fails
	return len(found) > 0 || m.webhookService() != nil
}

// webhookPort follows the first reference to a Service, by way of its target port, to the port of a container.
func (m givenManifests) webhookPort() (int, error) {
	reference := m.webhookService()
	for _, service := range ofKinds(m, "Service") {
		if service.GetName() != kube.StringAt(reference, "name") || service.GetNamespace() != kube.StringAt(reference, "namespace") {
			continue
		}
		for _, port := range kube.ListAt(service.Object, "spec", "ports") {
			if kube.IntAt(port, "port") != cmp.Or(kube.IntAt(reference, "port"), 443) {
				continue
			}
			if number := cmp.Or(kube.IntAt(port, "targetPort"), m.containerPort(kube.StringAt(port, "targetPort"))); number > 0 {
				return int(number), nil
			}
		}
	}
	return defaultWebhookPort, nil
}

// webhookService returns the first reference of a webhook to a Service, or nil.
func (m givenManifests) webhookService() any {
	for _, o := range m {
		if reference := kube.ValueAt(o.Object, "spec", "conversion", "webhook", "clientConfig", "service"); reference != nil {
			return reference
		}
		if !strings.HasSuffix(o.GetKind(), "WebhookConfiguration") {
			continue
		}
		for _, webhook := range kube.ListAt(o.Object, "webhooks") {
			if reference := kube.ValueAt(webhook, "clientConfig", "service"); reference != nil {
				return reference
			}
		}
	}
	return nil
}

// containerPort returns the number of a port of the manager, or 0.
func (m givenManifests) containerPort(name string) int64 {
	for _, deployment := range ofKinds(m, "Deployment") {
		for _, container := range kube.ListAt(deployment.Object, "spec", "template", "spec", "containers") {
			for _, port := range kube.ListAt(container, "ports") {
				if kube.StringAt(port, "name") == name {
					return kube.IntAt(port, "containerPort")
				}
			}
		}
	}
	return 0
}

// supporting returns what an operator needs besides its definitions, permissions and webhooks, such as ConfigMaps: not what runs
// containers, since the operator runs outside of the cluster. Webhooks are idle: the operator may write to its configurations, such as the
// authority of a certificate that it has made, but the API server only calls it through the configurations that register creates.
func (m givenManifests) supporting() []*kube.Object {
	var objects []*kube.Object
	for _, o := range m {
		switch o.GetKind() {
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			objects = append(objects, idle(o.DeepCopy()))
		case kube.CRDKind, "Namespace", "ServiceAccount",
			"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod", "Job", "CronJob":
		default:
			objects = append(objects, o.DeepCopy())
		}
	}
	return objects
}

// idle makes the webhooks of a configuration match no object.
func idle(configuration *kube.Object) *kube.Object {
	for _, item := range kube.ListAt(configuration.Object, "webhooks") {
		if webhook, ok := item.(map[string]any); ok {
			webhook["objectSelector"] = map[string]any{"matchLabels": map[string]any{"run-local.operon/idle": "true"}}
		}
	}
	return configuration
}
