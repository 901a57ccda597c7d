package bundle

import (
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// A conversion is a CRD with a conversion webhook.
type conversion struct {
	crd      manifest.Object
	endpoint endpoint
	versions []string
}

// applyConversions adds one definition for all CRDs that are converted at the same Service, port and path.
func (w *webhooks) applyConversions() {
	type place struct {
		service string
		port    int32
		path    string
	}
	groups := map[place][]conversion{}
	var order []place
	for _, c := range w.conversionCRDs() {
		at := place{service: c.endpoint.service, port: c.endpoint.port}
		if c.endpoint.path != nil {
			at.path = *c.endpoint.path
		}
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], c)
	}
	for _, at := range order {
		group := groups[at]
		slices.SortFunc(group, func(a, b conversion) int { return strings.Compare(a.crd.Name(), b.crd.Name()) })
		none := admissionv1.SideEffectClassNone
		d := v1alpha1.WebhookDescription{
			Type:        v1alpha1.ConversionWebhook,
			SideEffects: &none,
			WebhookPath: group[0].endpoint.path,
		}
		plurals := ""
		for _, c := range group {
			d.ConversionCRDs = append(d.ConversionCRDs, c.crd.Name())
			plural, _, _ := strings.Cut(c.crd.Name(), ".")
			plurals += plural
			for _, v := range c.versions {
				if !slices.Contains(d.AdmissionReviewVersions, v) {
					d.AdmissionReviewVersions = append(d.AdmissionReviewVersions, v)
				}
			}
		}
		d.GenerateName = "c" + plurals + ".kb.io"
		b, ok := w.backend(group[0].crd.Locate("spec", "conversion"), "the conversion of "+strings.Join(d.ConversionCRDs, ", "), group[0].endpoint)
		if !ok {
			continue
		}
		d.DeploymentName, d.ContainerPort, d.TargetPort = b.deployment.Name(), b.port, b.target
		w.definitions = append(w.definitions, d)
	}
}

func (w *webhooks) conversionCRDs() []conversion {
	var all []conversion
	add := func(o manifest.Object, service *apiextv1.ServiceReference, versions []string) {
		if service == nil {
			w.problems.Addf(o.Locate("spec", "conversion"), "%s is converted by a webhook without a Service, which OLM does not support; name the Service of the operator's webhook server", o)
			return
		}
		e := endpoint{service.Name, webhookPort, service.Path}
		if service.Port != nil {
			e.port = *service.Port
		}
		all = append(all, conversion{o, e, versions})
	}
	for _, crd := range w.crds {
		conv := crd.value.Spec.Conversion
		if conv != nil && conv.Webhook != nil && conv.Webhook.ClientConfig != nil {
			add(crd.Object, conv.Webhook.ClientConfig.Service, conv.Webhook.ConversionReviewVersions)
		}
	}
	for _, crd := range w.oldCRDs {
		conv := crd.value.Spec.Conversion
		if conv != nil && conv.WebhookClientConfig != nil {
			add(crd.Object, (*apiextv1.ServiceReference)(conv.WebhookClientConfig.Service), conv.ConversionReviewVersions)
		}
	}
	return all
}
