package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	// olmCertPath is where OLM mounts the serving certificate of webhooks, as tls.crt and tls.key.
	olmCertPath = "/tmp/k8s-webhook-server/serving-certs"
	// scaffoldSecret is the Secret that the scaffolds of kubebuilder and operator-sdk mount, and that a
	// cert-manager Certificate fills.
	scaffoldSecret = "webhook-server-cert"
	// scaffoldMetricsSecret is the one for the metrics' endpoint.
	scaffoldMetricsSecret = "metrics-server-cert"
	webhookCertArg        = "--webhook-cert-path="
	metricsCertArg        = "--metrics-cert-path="
)

// leaveCerts takes what cert-manager would fill out of the deployments and CRDs: no Certificate is in
// a bundle, so a volume of its Secret would keep the pods from starting. OLM mounts a serving
// certificate of its own into the deployments of webhooks.
func (w *webhooks) leaveCerts() {
	issued := w.issuedSecrets()
	// The Certificates of the scaffolds may have names that are still to be filled in.
	spared := map[string]bool{scaffoldSecret: true, scaffoldMetricsSecret: true}
	for i := range w.deployments {
		w.leaveCertVolumes(&w.deployments[i], issued, spared)
	}
	w.replaced = w.replacedIssuance(spared)
	for i := range w.crds {
		leaveInjection(w.collection, &w.crds[i])
	}
}

// issuedSecrets are the Secrets that Certificates of the input would make.
func (c *collection) issuedSecrets() map[string]bool {
	issued := map[string]bool{}
	for _, o := range c.others {
		if o.Group() == groupCerts && o.Kind() == "Certificate" {
			spec, _ := o.Fields["spec"].(map[string]any)
			if name, _ := spec["secretName"].(string); name != "" {
				issued[name] = true
			}
		}
	}
	for _, o := range c.others {
		if o.Kind() == kindSecret && o.Group() == "" {
			delete(issued, o.Name()) // it is there
		}
	}
	return issued
}

// leaveCertVolumes takes the volumes with certificates that nobody fills out of a deployment, with
// their mounts and the arguments that lead there. It adds the Secrets that the pods can do without to spared.
func (w *webhooks) leaveCertVolumes(d *read[appsv1.Deployment], issued, spared map[string]bool) {
	pod := &d.value.Spec.Template.Spec
	served := w.behind[d.Name()]
	gone := map[string]bool{}
	pod.Volumes = slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool {
		if v.Secret == nil || v.Secret.Optional != nil && *v.Secret.Optional {
			return false
		}
		webhook := served && w.webhookVolume(pod, v)
		if !issued[v.Secret.SecretName] && !webhook {
			return false
		}
		gone[v.Name] = true
		replaced := webhook || metricsVolume(pod, v)
		if replaced {
			spared[v.Secret.SecretName] = true
		}
		w.note(Note{Position: d.Locate("spec", "template", "spec", "volumes"), Subject: d.String(), Dropped: !replaced,
			Reason: fmt.Sprintf("mounts the Secret %s, which cert-manager fills and a bundle does not bring; the volume %s is left out with its mounts", v.Secret.SecretName, v.Name),
			Advice: "nothing is to be done for webhooks, OLM mounts its own certificate"})
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
			w.leaveMounts(d, &containers[i], gone, served)
		}
	}
}

// webhookVolume tells whether a volume is the one that a webhook server reads its certificate from.
func (w *webhooks) webhookVolume(pod *corev1.PodSpec, v corev1.Volume) bool {
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

// metricsVolume tells whether a volume is one that the metrics' certificate is read from.
func metricsVolume(pod *corev1.PodSpec, v corev1.Volume) bool {
	return slices.ContainsFunc(pod.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.Name == v.Name && slices.Contains(c.Args, metricsCertArg+m.MountPath)
		})
	})
}

func (w *webhooks) leaveMounts(d *read[appsv1.Deployment], c *corev1.Container, gone map[string]bool, served bool) {
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
			w.note(Note{Position: d.Position, Subject: d.String(),
				Reason: fmt.Sprintf("reads the certificate of its metrics from %s in container %s; the argument %s is left out, and the manager makes a certificate of its own", m.MountPath, c.Name, metrics),
				Advice: "bring the Secret in another way if its certificate must be verified"})
		case served && m.MountPath != olmCertPath:
			w.note(Note{Position: d.Position, Subject: d.String(),
				Reason: fmt.Sprintf("has its webhook certificate at %s in container %s, OLM mounts it at %s", m.MountPath, c.Name, olmCertPath),
				Advice: "let the webhook server read tls.crt and tls.key there, or leave it its default"})
		}
		return true
	})
	if len(c.VolumeMounts) == 0 {
		c.VolumeMounts = nil
	}
}

// leaveInjection takes the annotations out that ask cert-manager for a certificate authority.
func leaveInjection(c *collection, crd *read[apiextv1.CustomResourceDefinition]) {
	for _, key := range slices.Sorted(maps.Keys(crd.value.Annotations)) {
		if !strings.HasPrefix(key, groupCerts+"/") {
			continue
		}
		c.note(Note{Position: crd.Locate("metadata", "annotations", key), Subject: crd.String(),
			Reason: fmt.Sprintf("has the annotation %s for cert-manager; it is left out, OLM writes the certificate authority of conversions", key),
			Advice: "nothing is to be done"})
		delete(crd.value.Annotations, key)
	}
}
