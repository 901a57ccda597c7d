package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

const (
	// olmCertPath is where OLM mounts the serving certificate of webhooks, as tls.crt and tls.key.
	olmCertPath = "/tmp/k8s-webhook-server/serving-certs"
	// scaffoldSecret is the Secret that scaffolded projects mount and a cert-manager Certificate issues.
	scaffoldSecret = "webhook-server-cert"
	// scaffoldMetricsSecret is the corresponding Secret of the metrics endpoint.
	scaffoldMetricsSecret = "metrics-server-cert"
	webhookCertArg        = "--webhook-cert-path="
	metricsCertArg        = "--metrics-cert-path="
)

// removeCertificates removes from Deployments and CRDs what cert-manager would provide: a bundle has no Certificate, so a
// volume of its Secret would keep the pods from starting. OLM mounts its own serving certificate into the Deployments of
// webhooks.
func (w *webhooks) removeCertificates() {
	issued := w.issuedSecrets()
	// The names of scaffolded Certificates may still be kustomize placeholders.
	optional := map[string]bool{scaffoldSecret: true, scaffoldMetricsSecret: true}
	for i := range w.deployments {
		w.removeCertVolumes(&w.deployments[i], issued, optional)
	}
	w.replaced = w.replacedIssuance(optional)
	for i := range w.crds {
		removeInjection(w.collection, &w.crds[i])
	}
}

// issuedSecrets returns the names of the Secrets that the Certificates in the input would issue.
func (c *collection) issuedSecrets() map[string]bool {
	issued := map[string]bool{}
	for _, o := range c.others {
		if o.Group() == groupCerts && o.Kind() == "Certificate" {
			if name := manifest.TextAt(o.Fields, "spec", "secretName"); name != "" {
				issued[name] = true
			}
		}
	}
	for _, o := range c.others {
		if o.Kind() == kindSecret && o.Group() == "" {
			delete(issued, o.Name()) // the input has it
		}
	}
	return issued
}

// removeCertVolumes removes the volumes of Secrets that nothing would create from a Deployment, with their mounts and
// arguments. It adds the Secrets that the pods do not need to optional.
func (w *webhooks) removeCertVolumes(d *decoded[appsv1.Deployment], issued, optional map[string]bool) {
	pod := &d.value.Spec.Template.Spec
	served := w.backends[d.Name()]
	gone := map[string]bool{}
	pod.Volumes = slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool {
		if v.Secret == nil || v.Secret.Optional != nil && *v.Secret.Optional {
			return false
		}
		webhook := served && w.isWebhookVolume(pod, v)
		if !issued[v.Secret.SecretName] && !webhook {
			return false
		}
		gone[v.Name] = true
		replaced := webhook || isMetricsVolume(pod, v)
		if replaced {
			optional[v.Secret.SecretName] = true
		}
		w.note(diag.Finding{Position: d.Locate("spec", "template", "spec", "volumes"), Object: d.String(), Severity: lossUnless(replaced),
			Problem: fmt.Sprintf("mounts the Secret %s, which cert-manager issues and a bundle cannot contain; the volume %s is left out with its mounts", v.Secret.SecretName, v.Name),
			Fix:     "no action is needed for webhooks: OLM mounts its own certificate"})
		return true
	})
	if len(gone) == 0 {
		return
	}
	if len(pod.Volumes) == 0 {
		pod.Volumes = nil
	}
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			w.removeCertMounts(d, &containers[i], gone, served)
		}
	}
}

// isWebhookVolume reports whether a webhook server reads its certificate from the volume.
func (w *webhooks) isWebhookVolume(pod *corev1.PodSpec, v corev1.Volume) bool {
	for _, o := range w.others {
		if o.Kind() == kindSecret && o.Group() == "" && o.Name() == v.Secret.SecretName {
			return false
		}
	}
	if v.Secret.SecretName == scaffoldSecret {
		return true
	}
	for _, c := range pod.Containers {
		for _, m := range c.VolumeMounts {
			if m.Name == v.Name && (m.MountPath == olmCertPath || slices.Contains(c.Args, webhookCertArg+m.MountPath)) {
				return true
			}
		}
	}
	return false
}

// isMetricsVolume reports whether the metrics endpoint reads its certificate from the volume.
func isMetricsVolume(pod *corev1.PodSpec, v corev1.Volume) bool {
	return slices.ContainsFunc(pod.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.Name == v.Name && slices.Contains(c.Args, metricsCertArg+m.MountPath)
		})
	})
}

// removeCertMounts removes the mounts of removed volumes from a container.
func (w *webhooks) removeCertMounts(d *decoded[appsv1.Deployment], c *corev1.Container, gone map[string]bool, served bool) {
	c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		if !gone[m.Name] {
			return false
		}
		metrics := metricsCertArg + m.MountPath
		switch {
		case slices.Contains(c.Args, metrics):
			c.Args = slices.DeleteFunc(c.Args, func(arg string) bool {
				return arg == metrics || strings.HasPrefix(arg, "--metrics-cert-name=") || strings.HasPrefix(arg, "--metrics-cert-key=")
			})
			w.note(diag.Finding{Position: d.Position, Object: d.String(),
				Problem: fmt.Sprintf("reads its metrics certificate from %s in container %s; the argument %s is left out, and the manager generates its own certificate", m.MountPath, c.Name, metrics),
				Fix:     "provide the Secret in another way if its certificate must be verified"})
		case served && m.MountPath != olmCertPath:
			w.note(diag.Finding{Position: d.Position, Object: d.String(),
				Problem: fmt.Sprintf("has its webhook certificate at %s in container %s, OLM mounts it at %s", m.MountPath, c.Name, olmCertPath),
				Fix:     "let the webhook server read tls.crt and tls.key there, or leave it its default"})
		}
		return true
	})
	if len(c.VolumeMounts) == 0 {
		c.VolumeMounts = nil
	}
}

// removeInjection removes the annotations that request CA injection by cert-manager.
func removeInjection(c *collection, crd *decoded[apiextv1.CustomResourceDefinition]) {
	for _, key := range slices.Sorted(maps.Keys(crd.value.Annotations)) {
		if !strings.HasPrefix(key, groupCerts+"/") {
			continue
		}
		c.note(diag.Finding{Position: crd.Locate("metadata", "annotations", key), Object: crd.String(), Severity: diag.Detail,
			Problem: fmt.Sprintf("has the annotation %s for cert-manager; it is left out because OLM injects the CA for conversion webhooks", key),
			Fix:     "no action is needed"})
		delete(crd.value.Annotations, key)
	}
}
