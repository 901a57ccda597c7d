package bundle

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// webhookPort is the Service port of webhooks that name none.
const webhookPort int32 = 443

// An endpoint is the Service, port and path of a webhook.
type endpoint struct {
	service string
	port    int32
	path    *string
}

// A backend is the Service and Deployment that serve an endpoint.
type backend struct {
	service    *decoded[corev1.Service]
	deployment *decoded[appsv1.Deployment]
	port       int32
	target     *intstr.IntOrString
}

// A webhooks builds the webhook definitions of the CSV.
type webhooks struct {
	*collection
	definitions []v1alpha1.WebhookDescription
	// served holds the ports of Services that webhooks use, backends the Deployments that serve them.
	served   map[string]map[int32]bool
	backends map[string]bool
}

// applyWebhooks writes the webhook configurations and the conversions of CRDs into the CSV; without any, it keeps what is in
// the base. OLM creates the configurations, Services and serving certificates from them.
func (c *collection) applyWebhooks(csv *v1alpha1.ClusterServiceVersion) *webhooks {
	w := &webhooks{collection: c, served: map[string]map[int32]bool{}, backends: map[string]bool{}}
	for _, config := range c.validating {
		for i, hook := range config.value.Webhooks {
			w.addAdmission(config.Object, i, v1alpha1.ValidatingAdmissionWebhook, asMutating(hook))
		}
	}
	for _, config := range c.mutating {
		for i, hook := range config.value.Webhooks {
			w.addAdmission(config.Object, i, v1alpha1.MutatingAdmissionWebhook, hook)
		}
	}
	w.applyConversions()
	slices.SortStableFunc(w.definitions, func(a, b v1alpha1.WebhookDescription) int {
		return cmp.Compare(a.GenerateName, b.GenerateName)
	})
	if len(w.definitions) > 0 {
		csv.Spec.WebhookDefinitions = w.definitions
	}
	return w
}

// asMutating returns a validating webhook as a mutating one, whose fields are a superset.
func asMutating(hook admissionv1.ValidatingWebhook) admissionv1.MutatingWebhook {
	return admissionv1.MutatingWebhook{
		Name: hook.Name, ClientConfig: hook.ClientConfig, Rules: hook.Rules,
		FailurePolicy: hook.FailurePolicy, MatchPolicy: hook.MatchPolicy, MatchConditions: hook.MatchConditions,
		NamespaceSelector: hook.NamespaceSelector, ObjectSelector: hook.ObjectSelector,
		SideEffects: hook.SideEffects, TimeoutSeconds: hook.TimeoutSeconds, AdmissionReviewVersions: hook.AdmissionReviewVersions,
	}
}

func (w *webhooks) addAdmission(at manifest.Object, i int, kind v1alpha1.WebhookAdmissionType, hook admissionv1.MutatingWebhook) {
	d := v1alpha1.WebhookDescription{
		Type:                    kind,
		GenerateName:            hook.Name,
		Rules:                   hook.Rules,
		FailurePolicy:           hook.FailurePolicy,
		MatchPolicy:             hook.MatchPolicy,
		ObjectSelector:          hook.ObjectSelector,
		SideEffects:             hook.SideEffects,
		TimeoutSeconds:          hook.TimeoutSeconds,
		AdmissionReviewVersions: hook.AdmissionReviewVersions,
		ReinvocationPolicy:      hook.ReinvocationPolicy,
	}
	subject := "webhook " + d.GenerateName
	place := func(field ...string) diag.Position {
		return at.Locate(append([]string{"webhooks", fmt.Sprint(i)}, field...)...)
	}
	// OLM limits webhooks to the namespaces of the OperatorGroup and does not support match conditions.
	if namespaces := hook.NamespaceSelector; namespaces != nil && (len(namespaces.MatchLabels) > 0 || len(namespaces.MatchExpressions) > 0) {
		w.note(diag.Finding{Position: place("namespaceSelector"), Object: subject, Severity: diag.Warning,
			Problem: "has a namespaceSelector; a CSV has no place for it, OLM selects the namespaces of the OperatorGroup",
			Fix:     "use objectSelector, or check the namespace in the webhook"})
	}
	if len(hook.MatchConditions) > 0 {
		w.note(diag.Finding{Position: place("matchConditions"), Object: subject, Severity: diag.Warning,
			Problem: "has matchConditions; a CSV has no place for them",
			Fix:     "check the conditions in the webhook"})
	}
	service := hook.ClientConfig.Service
	if service == nil {
		w.problems.Addf(place("clientConfig"), "%s is called by URL, which OLM does not support; serve it from a Deployment of the operator behind a Service, or remove it from the input", subject)
		return
	}
	e := endpoint{service.Name, webhookPort, service.Path}
	if service.Port != nil {
		e.port = *service.Port
	}
	b, ok := w.backend(place("clientConfig", "service"), subject, e)
	if !ok {
		return
	}
	if len(d.AdmissionReviewVersions) == 0 {
		d.AdmissionReviewVersions = []string{"v1"}
		w.note(diag.Finding{Position: place(), Object: subject, Problem: "has no admissionReviewVersions; v1 is used", Fix: "list the supported versions"})
	}
	if d.SideEffects == nil {
		none := admissionv1.SideEffectClassNone
		d.SideEffects = &none
		w.note(diag.Finding{Position: place(), Object: subject, Problem: "has no sideEffects; None is used", Fix: "set None or NoneOnDryRun"})
	}
	d.DeploymentName, d.ContainerPort, d.TargetPort, d.WebhookPath = b.deployment.Name(), b.port, b.target, e.path
	if slices.ContainsFunc(w.definitions, func(other v1alpha1.WebhookDescription) bool { return reflect.DeepEqual(other, d) }) {
		w.note(diag.Finding{Position: place(), Object: subject, Problem: "is in the input twice; the bundle includes it once", Fix: "remove one of them from the input"})
		return
	}
	w.definitions = append(w.definitions, d)
}

// backend returns the Service of an endpoint and the Deployment behind it. OLM rejects a webhook without a Deployment in
// the CSV, so a missing one is a problem.
func (w *webhooks) backend(at diag.Position, subject string, e endpoint) (backend, bool) {
	service := w.service(e.service)
	if service == nil {
		w.problems.Addf(at, "%s is served by the Service %s, which is not in the input; add the Service", subject, e.service)
		return backend{}, false
	}
	b := backend{service: service}
	spec := service.value.Spec
	switch {
	case spec.Type == corev1.ServiceTypeExternalName:
		w.problems.Addf(at, "%s is served by %s, which is of type ExternalName; OLM needs a Deployment of the operator behind it", subject, service)
		return backend{}, false
	case len(spec.Selector) == 0:
		w.problems.Addf(at, "%s is served by %s, which has no selector; OLM needs a Deployment of the operator behind it", subject, service)
		return backend{}, false
	}
	for i, d := range w.deployments {
		if labels.SelectorFromSet(spec.Selector).Matches(labels.Set(d.value.Spec.Template.Labels)) {
			b.deployment = &w.deployments[i]
			break
		}
	}
	if b.deployment == nil {
		w.problems.Addf(at, "%s is served by %s, whose selector matches no Deployment of the input; correct the selector or the labels of the pods", subject, service)
		return backend{}, false
	}
	for _, port := range spec.Ports {
		if port.Port != e.port {
			continue
		}
		target := port.TargetPort
		if target == (intstr.IntOrString{}) {
			target = intstr.FromInt32(port.Port) // as the API server does
		}
		b.port, b.target = port.Port, &target
		break
	}
	if b.target == nil {
		w.problems.Addf(at, "%s uses port %d, which %s does not have; its ports: %s", subject, e.port, service, portNames(spec.Ports))
		return backend{}, false
	}
	if b.target.Type == intstr.String && !hasPort(b.deployment.value, b.target.StrVal) {
		w.problems.Addf(at, "%s: the target of port %d of %s is the port %s, which no container of %s has", subject, e.port, service, b.target.StrVal, b.deployment)
		return backend{}, false
	}
	if w.served[e.service] == nil {
		w.served[e.service] = map[int32]bool{}
	}
	w.served[e.service][e.port] = true
	w.backends[b.deployment.Name()] = true
	return b, true
}

func (c *collection) service(name string) *decoded[corev1.Service] {
	for i := range c.services {
		if c.services[i].Name() == name {
			return &c.services[i]
		}
	}
	return nil
}

func portNames(ports []corev1.ServicePort) string {
	if len(ports) == 0 {
		return "none"
	}
	names := make([]string, len(ports))
	for i, p := range ports {
		names[i] = fmt.Sprint(p.Port)
	}
	return strings.Join(names, ", ")
}

func hasPort(d appsv1.Deployment, name string) bool {
	return slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
	})
}

// removeServices removes the Services that only serve webhooks: OLM creates its own for them.
func (w *webhooks) removeServices() {
	w.services = slices.DeleteFunc(w.services, func(s decoded[corev1.Service]) bool {
		ports := w.served[s.Name()]
		if ports == nil {
			return false
		}
		for _, p := range s.value.Spec.Ports {
			if !ports[p.Port] {
				return false
			}
		}
		w.note(diag.Finding{Position: s.Position, Object: s.String(), Severity: diag.Detail,
			Problem: "serves only webhooks; it is left out because OLM creates a Service for them",
			Fix:     "no action is needed"})
		return true
	})
}
