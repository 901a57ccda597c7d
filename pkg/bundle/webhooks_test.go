package bundle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// operator returns the manifests of an operator with a webhook and the given parts.
func operator(servicePorts, args, mounts, volumes, more string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Service
metadata: {name: hook}
spec:
  selector: {app: op}
  ports:
%s
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op}
spec:
  selector: {matchLabels: {app: op}}
  template:
    metadata: {labels: {app: op}}
    spec:
      containers:
      - name: manager
        image: registry.example/op:1
        args: [%s]
        ports: [{name: serve, containerPort: 9443}]
        volumeMounts: [%s]
      volumes: [%s]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: v}
webhooks:
- name: v.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: hook, namespace: x, path: /v}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
%s`, servicePorts, args, mounts, volumes, more)
}

// issued is a Certificate and its issuer.
func issued(name, dnsNames, signer string) string {
	return fmt.Sprintf("---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: %[1]s}\nspec: {secretName: %[1]s, dnsNames: [%[2]s], issuerRef: {name: %[3]s}}\n", name, dnsNames, signer)
}

func issuer(name, spec string) string {
	return fmt.Sprintf("---\napiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: %s}\nspec: {%s}\n", name, spec)
}

func generate(t *testing.T, stream string) (*bundle.Manifests, error) {
	t.Helper()
	objects, problems := manifest.Decode("in", []byte(stream))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return bundle.Generate(bundle.Input{Package: "op", Version: "1.0.0", Layout: "unknown", Builder: "test", Objects: objects})
}

// TestWebhooksUnderOLM checks which parts of a webhook setup are kept, removed and rejected.
func TestWebhooksUnderOLM(t *testing.T) {
	t.Parallel()
	const (
		ports       = "  - {port: 443, targetPort: serve}"
		certMount   = "{name: cert, mountPath: /tmp/k8s-webhook-server/serving-certs}"
		certVolume  = "{name: cert, secret: {secretName: webhook-server-cert}}"
		certificate = "---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c}\nspec: {secretName: %s}\n"
		converted   = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pots.example.com, annotations: {cert-manager.io/inject-ca-from: x/c}}
spec:
  group: example.com
  names: {kind: Pot, plural: pots}
  scope: Namespaced
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: hook, namespace: x, path: /convert}}}}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`
		secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: %s}\n"
	)
	for _, c := range []struct {
		name, stream string
		has, hasNot  []string // of CSV and file names
		notes        []string
		dropped      []string // subjects of dropped objects
		refused      string
	}{
		{
			name:   "certificate of the webhook",
			stream: operator(ports, "--webhook-cert-path=/tmp/k8s-webhook-server/serving-certs", certMount, certVolume, fmt.Sprintf(certificate, "webhook-server-cert")),
			has:    []string{"--webhook-cert-path=", "containerPort: 443", "targetPort: serve", "deploymentName: op"},
			hasNot: []string{"volumes:", "volumeMounts:", "hook_v1_service.yaml"},
			notes:  []string{"mounts the Secret webhook-server-cert", "Certificate c is left out", "Service hook serves only webhooks"},
		},
		{
			name: "certificate of the metrics",
			stream: operator(ports, "--metrics-cert-path=/metrics-certs, --leader-elect", "{name: m, mountPath: /metrics-certs}, {name: data, mountPath: /data}",
				"{name: m, secret: {secretName: metrics-cert}}, {name: data, emptyDir: {}}", fmt.Sprintf(certificate, "metrics-cert")),
			has:    []string{"--leader-elect", "mountPath: /data", "emptyDir"},
			hasNot: []string{"metrics-cert"},
			notes:  []string{"the argument --metrics-cert-path=/metrics-certs is left out"},
		},
		{
			name:   "certificate in another directory",
			stream: operator(ports, "", "{name: cert, mountPath: /certs}", certVolume, ""),
			hasNot: []string{"volumes:", "/certs"},
			notes:  []string{"has its webhook certificate at /certs in container manager, OLM mounts it at /tmp/k8s-webhook-server/serving-certs"},
		},
		{
			name:   "Secret of the input",
			stream: operator(ports, "", certMount, certVolume, fmt.Sprintf(secret, "webhook-server-cert")),
			has:    []string{"secretName: webhook-server-cert", "webhook-server-cert_v1_secret.yaml"},
		},
		{
			name:   "optional Secret",
			stream: operator(ports, "", certMount, "{name: cert, secret: {secretName: webhook-server-cert, optional: true}}", ""),
			has:    []string{"secretName: webhook-server-cert"},
		},
		{
			name:   "Service with another port",
			stream: operator(ports+"\n  - {name: metrics, port: 8443, targetPort: 8443}", "", "", "", ""),
			has:    []string{"hook_v1_service.yaml"},
		},
		{
			name:   "port without target",
			stream: operator("  - {port: 443}", "", "", "", ""),
			has:    []string{"targetPort: 443"},
		},
		{
			name:    "port that no container has",
			stream:  operator("  - {port: 443, targetPort: wrong}", "", "", "", ""),
			refused: "in:", // with a position
		},
		{
			name:    "port that the Service has not",
			stream:  operator("  - {port: 8080}", "", "", "", ""),
			refused: "uses port 443, which Service hook does not have; its ports: 8080",
		},
		{
			name: "what a CSV has no place for",
			stream: strings.Replace(operator(ports, "", "", "", ""), "  sideEffects: None\n",
				"  sideEffects: None\n  namespaceSelector: {matchLabels: {a: b}}\n  matchConditions: [{name: c, expression: 'true'}]\n", 1),
			notes:   []string{"has a namespaceSelector", "has matchConditions"},
			dropped: []string{"webhook v.example.com", "webhook v.example.com"},
		},
		{
			name:   "what a CSV requires",
			stream: strings.NewReplacer("  sideEffects: None\n", "", "  admissionReviewVersions: [v1]\n", "").Replace(operator(ports, "", "", "", "")),
			has:    []string{"sideEffects: None", "admissionReviewVersions:\n    - v1"},
			notes:  []string{"has no sideEffects; None is used", "has no admissionReviewVersions; v1 is used"},
		},
		{
			name:   "conversion",
			stream: operator(ports, "", "", "", converted),
			has:    []string{"conversionCRDs:\n    - pots.example.com", "generateName: cpots.kb.io", "webhookPath: /convert"},
			hasNot: []string{"cert-manager.io"},
			notes:  []string{"has the annotation cert-manager.io/inject-ca-from for cert-manager; it is left out"},
		},
		{
			name:    "conversion for some namespaces",
			stream:  operator(ports, "", "", "", converted+"---\napiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: op.v0.0.0}\nspec: {displayName: Op, installModes: [{type: OwnNamespace, supported: true}]}\n"),
			refused: "only AllNamespaces InstallModeType is supported",
		},
		{
			name:    "conversion without a Service",
			stream:  operator(ports, "", "", "", strings.Replace(converted, "service: {name: hook, namespace: x, path: /convert}", "url: https://x.example", 1)),
			refused: "is converted by a webhook without a Service",
		},
		{
			name:    "Service that is not there",
			stream:  strings.Replace(operator(ports, "", "", "", ""), "service: {name: hook", "service: {name: other", 1),
			refused: "served by the Service other, which is not in the input",
		},
		{
			name:    "URL",
			stream:  strings.Replace(operator(ports, "", "", "", ""), "service: {name: hook, namespace: x, path: /v}", "url: https://x.example", 1),
			refused: "is called by URL, which OLM does not support",
		},
		{
			name:   "certificates of Services",
			stream: operator(ports, "", "", "", issued("hook", "hook.x.svc, hook.x.svc.cluster.local", "signer")+issuer("signer", "ca: {secretName: signer}")+issued("signer", "", "root")+issuer("root", "selfSigned: {}")),
			notes:  []string{"Certificate hook is left out", "Certificate signer is left out", "Issuer signer is left out", "Issuer root is left out"},
		},
		{
			name:   "certificates of the scaffold, without names yet",
			stream: operator(ports, "", "", "", fmt.Sprintf(certificate, "webhook-server-cert")+strings.Replace(fmt.Sprintf(certificate, "metrics-server-cert"), "name: c", "name: d", 1)),
		},
		{
			name:    "certificates of the operator's own",
			stream:  operator(ports, "", "", "", issued("hook", "hook.x.svc, other.example.com", "signer")+issued("mine", "hook.x.svc", "signer")+issuer("signer", "selfSigned: {}")+issuer("other", "selfSigned: {}")),
			dropped: []string{"Certificate hook", "Issuer signer", "Issuer other"},
		},
		{
			name:    "volume of neither webhook nor metrics",
			stream:  operator(ports, "", "{name: tls, mountPath: /tls}", "{name: tls, secret: {secretName: own}}", issued("own", "own.example.com", "signer")),
			dropped: []string{"Deployment op", "Certificate own"},
		},
		{
			name: "namespaces",
			stream: strings.Replace(operator(ports, "", "", "", "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ops}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: others}\n"),
				"kind: Deployment\nmetadata: {name: op}", "kind: Deployment\nmetadata: {name: op, namespace: ops}", 1),
			notes:   []string{"Namespace ops is left out", "Namespace others is left out"},
			dropped: []string{"Namespace others"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made, err := generate(t, c.stream)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("Generate() error = %v, want %q", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			csv, err := manifest.Encode(made.CSV)
			if err != nil {
				t.Fatal(err)
			}
			all := string(csv) + strings.Join(made.Order, "\n")
			for _, name := range made.Order {
				all += string(made.Files[name])
			}
			for _, text := range c.has {
				if !strings.Contains(all, text) {
					t.Errorf("the bundle lacks %q:\n%s", text, all)
				}
			}
			for _, text := range c.hasNot {
				if strings.Contains(all, text) {
					t.Errorf("the bundle contains %q:\n%s", text, all)
				}
			}
			notes := fmt.Sprint(made.Notes)
			for _, text := range c.notes {
				if !strings.Contains(notes, text) {
					t.Errorf("no note contains %q:\n%s", text, notes)
				}
			}
			var dropped []string
			for _, n := range bundle.Losses(made.Notes) {
				dropped = append(dropped, n.Object)
			}
			if !slices.Equal(dropped, c.dropped) {
				t.Errorf("dropped = %q, want %q\n%s", dropped, c.dropped, notes)
			}
		})
	}
}
