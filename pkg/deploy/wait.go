package deploy

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// wait waits until the Deployments are available and the webhooks can be called. It ends early if waiting longer can't help.
func (d *deployment) wait(ctx context.Context) error {
	for _, o := range d.objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		if err := d.await(ctx, o, d.available, d.client.PermanentFailure); err != nil {
			return err
		}
		d.Reportf("%s is available", kube.FullName(o))
	}
	for _, o := range d.objects {
		if len(clientConfigs(o)) == 0 {
			continue
		}
		if err := d.await(ctx, o, d.callable, func(context.Context, *kube.Object) string { return "" }); err != nil {
			return err
		}
	}
	return nil
}

// await waits for an object. missing returns what it still lacks, or "", and failure why it will never be ready, or "".
func (d *deployment) await(ctx context.Context, o *kube.Object, missing, failure func(context.Context, *kube.Object) string) error {
	reason := "it was not read yet"
	for {
		live, err := d.Client.Get(ctx, o)
		switch {
		case err != nil && !kube.IsTransient(err) && ctx.Err() == nil:
			return fmt.Errorf("waiting for %s: %w", kube.FullName(o), err)
		case err != nil: // the next read may succeed
		case live == nil:
			return fmt.Errorf("%s was deleted by someone else", kube.FullName(o))
		default:
			if reason = missing(ctx, live); reason == "" {
				return nil
			}
			if never := failure(ctx, live); never != "" {
				return d.failed(ctx, live, errors.New(never))
			}
			d.Waitf("waiting for %s: %s", kube.FullName(o), reason)
		}
		if kube.Pause(ctx) {
			continue
		}
		if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) { // the user doesn't wait for causes either
			return fmt.Errorf("waiting for %s: %w", kube.FullName(o), cause)
		}
		return d.failed(ctx, o, fmt.Errorf("%s (%w)", reason, context.Cause(ctx)))
	}
}

func (d *deployment) available(_ context.Context, live *kube.Object) string {
	return kube.HealthOf(live).Reason
}

// failed adds the causes to the reason for which an object isn't ready. ctx may have ended.
func (d *deployment) failed(ctx context.Context, o *kube.Object, reason error) error {
	ended := ctx.Err() != nil
	ctx, cancel := olm.DiagnosisContext(ctx)
	defer cancel()
	var found olm.Diagnosis
	live, err := d.Client.Get(ctx, o)
	if err == nil && live != nil && live.GetKind() == "Deployment" {
		related := found.ExplainDeployment(ctx, d.Client, live,
			"push it to a registry that they can reach, pass another one with --image, or set imagePullSecrets in config/manager", "free resources, no taints, the node selectors in config/manager")
		found.AddProblem(kube.FullName(live), kube.HealthOf(live).Reason, related...)
		if len(related.WithRule(kube.Crashed)) > 0 {
			found.Advise("the log above shows why the manager exits")
		}
	} else if len(clientConfigs(o)) > 0 {
		found.Advise("see 'kubectl get certificates,secrets,endpointslices --namespace %s' and the log of cert-manager's cainjector", d.namespace)
	}
	if ended {
		found.Advise("pass a longer --timeout if the cluster is slow; everything is applied, and deploying again only waits")
	}
	return found.Err(fmt.Sprintf("%s is deployed, but not ready: %v", kube.FullName(o), reason), reason)
}

// clientConfigs returns the configurations with which the API server calls webhooks of services, of an object that has any.
func clientConfigs(o *kube.Object) (configs []any) {
	switch o.GetKind() {
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		for _, webhook := range kube.ListAt(o.Object, "webhooks") {
			configs = append(configs, kube.ValueAt(webhook, "clientConfig"))
		}
	case kube.CRDKind:
		configs = append(configs, kube.ValueAt(o.Object, "spec", "conversion", "webhook", "clientConfig"))
	}
	return slices.DeleteFunc(configs, func(config any) bool { return kube.ValueAt(config, "service") == nil })
}

// callable returns why the API server can't call the webhooks of an object, or "".
func (d *deployment) callable(ctx context.Context, live *kube.Object) string {
	for _, config := range clientConfigs(live) {
		if kube.StringAt(config, "caBundle") == "" {
			if from := live.GetAnnotations()["cert-manager.io/inject-ca-from"]; from != "" {
				return "cert-manager has not injected the CA of the certificate " + from
			}
			return "its webhooks have no caBundle, without which the API server trusts no certificate"
		}
		namespace, name := kube.StringAt(config, "service", "namespace"), kube.StringAt(config, "service", "name")
		if reason := d.served(ctx, namespace, name); reason != "" {
			return reason
		}
	}
	return ""
}

// served returns why a service has no pod to send requests to, or "".
func (d *deployment) served(ctx context.Context, namespace, name string) string {
	service, err := d.Client.Get(ctx, kube.Named("v1", "Service", namespace, name))
	if err == nil && service == nil {
		return fmt.Sprintf("its service %s/%s doesn't exist", namespace, name)
	}
	slices, err := d.Client.List(ctx, kube.Resource{APIVersion: "discovery.k8s.io/v1", Name: "endpointslices", Kind: "EndpointSlice", Namespaced: true},
		namespace, url.Values{"labelSelector": {"kubernetes.io/service-name=" + name}})
	if err != nil {
		return "" // this user may not be allowed to read them
	}
	for _, slice := range slices {
		for _, endpoint := range kube.ListAt(slice.Object, "endpoints") {
			if kube.ValueAt(endpoint, "conditions", "ready") != false {
				return ""
			}
		}
	}
	return fmt.Sprintf("its service %s/%s has no ready pods", namespace, name)
}
