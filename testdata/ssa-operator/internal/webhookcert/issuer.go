// Package webhookcert gives the webhook server a certificate and renews it, so that the cluster doesn't need cert-manager.
//
// A Secret holds a CA and the server's certificate, which the CA signs. All replicas read it: the first one that finds a
// certificate missing or about to expire writes a new one, and the others take it over without a restart. A new CA is
// trusted in addition to the previous one, and signs nothing until the server's certificate is due, so that the API server
// trusts each certificate before it is used.
//
// The CA is written to the webhook configurations and CRDs that have the label inject-webhook-ca and call the operator's
// Service. config/certificates has the Secret, the labels and the permissions.
package webhookcert

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	// Environment variables of the manager. config/certificates sets them.
	secretVariable    = "WEBHOOK_SECRET"
	serviceVariable   = "WEBHOOK_SERVICE"
	namespaceVariable = "WEBHOOK_NAMESPACE"

	// injected is the label of the objects that get the CA.
	injected = "inject-webhook-ca"
)

// An issuer keeps the certificate of the webhook server valid.
type issuer struct {
	client.Client // reads from a cache with only what the issuer needs
	secret        client.ObjectKey
	service       client.ObjectKey
	current       atomic.Pointer[tls.Certificate]
}

// SetupWithManager makes the webhook server of the manager use a certificate that the operator issues itself. Without the
// variable WEBHOOK_SECRET it does nothing, and the server reads its certificate from files, as OLM provides them.
func SetupWithManager(mgr ctrl.Manager) error {
	secret, service, namespace := os.Getenv(secretVariable), os.Getenv(serviceVariable), os.Getenv(namespaceVariable)
	if secret == "" {
		return nil
	}
	if service == "" || namespace == "" {
		return fmt.Errorf("%s requires %s and %s", secretVariable, serviceVariable, namespaceVariable)
	}
	server, ok := mgr.GetWebhookServer().(*webhook.DefaultServer)
	if !ok {
		return errors.New("the webhook server of the manager is not controller-runtime's")
	}
	definitions := &unstructured.Unstructured{}
	definitions.SetAPIVersion("apiextensions.k8s.io/v1")
	definitions.SetKind("CustomResourceDefinition")
	label := labels.SelectorFromSet(labels.Set{injected: "true"})
	watched := []client.Object{
		&corev1.Secret{}, &admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfiguration{}, definitions,
	}
	// The manager's cache may be restricted to other namespaces, or hold all Secrets.
	objects, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) {
		o.Client.Cache = &client.CacheOptions{Unstructured: true}
		o.Cache.ByObject = map[client.Object]cache.ByObject{
			watched[0]: {
				Namespaces: map[string]cache.Config{namespace: {}},
				Field:      fields.OneTermEqualSelector("metadata.name", secret),
			},
			watched[1]: {Label: label},
			watched[2]: {Label: label},
			watched[3]: {Label: label},
		}
	})
	if err != nil {
		return err
	}
	if err := mgr.Add(objects); err != nil {
		return err
	}
	i := &issuer{
		Client:  objects.GetClient(),
		secret:  client.ObjectKey{Namespace: namespace, Name: secret},
		service: client.ObjectKey{Namespace: namespace, Name: service},
	}
	server.Options.TLSOpts = append(server.Options.TLSOpts, func(c *tls.Config) { c.GetCertificate = i.certificate })
	if err := mgr.AddReadyzCheck("webhook-certificate", i.check); err != nil {
		return err
	}
	// Replicas that don't lead serve webhooks, too.
	everywhere := false
	builder := ctrl.NewControllerManagedBy(mgr).Named("webhook-certificates").
		WithOptions(controller.Options{NeedLeaderElection: &everywhere})
	for _, object := range watched {
		builder = builder.WatchesRawSource(source.Kind(objects.GetCache(), object, handler.TypedEnqueueRequestsFromMapFunc(
			func(context.Context, client.Object) []reconcile.Request {
				return []reconcile.Request{{NamespacedName: i.secret}}
			})))
	}
	return builder.Complete(i)
}

// certificate returns the certificate for a connection.
func (i *issuer) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := i.current.Load(); c != nil {
		return c, nil
	}
	return nil, errors.New("the certificate has not been issued yet")
}

// check reports whether the webhook server has a certificate.
func (i *issuer) check(*http.Request) error {
	_, err := i.certificate(nil)
	return err
}

// Reconcile renews the certificates in the Secret when they are due, and distributes the CA.
func (i *issuer) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	secret := &corev1.Secret{}
	if err := i.Get(ctx, i.secret, secret); err != nil {
		return ctrl.Result{}, fmt.Errorf("reading the Secret of the webhook server's certificate: %w", err)
	}
	names := []string{
		i.service.Name + "." + i.service.Namespace + ".svc",
		i.service.Name + "." + i.service.Namespace + ".svc.cluster.local",
	}
	keys, err := renew(secret.Data, names, time.Now())
	if err != nil {
		return ctrl.Result{}, err
	}
	if keys.changed(secret.Data) {
		secret.Data = keys.data
		if err := i.Update(ctx, secret); apierrors.IsConflict(err) {
			return ctrl.Result{}, nil // another replica was first, and its change is about to arrive
		} else if err != nil {
			return ctrl.Result{}, fmt.Errorf("writing the webhook server's certificate: %w", err)
		}
		logf.FromContext(ctx).Info("Renewed the certificate of the webhook server", "secret", i.secret.Name)
	}
	// The API server must trust a certificate before it is used, unless there is none to keep.
	if err := i.inject(ctx, keys.trusted); err != nil {
		return ctrl.Result{}, err
	}
	i.current.Store(&keys.server)
	return ctrl.Result{RequeueAfter: time.Until(keys.due)}, nil
}

// inject writes the CA certificates to all objects that call the Service.
func (i *issuer) inject(ctx context.Context, authorities []byte) error {
	var errs []error
	var validating admissionv1.ValidatingWebhookConfigurationList
	errs = append(errs, i.List(ctx, &validating))
	for n := range validating.Items {
		o := &validating.Items[n]
		before := client.StrategicMergeFrom(o.DeepCopy())
		var webhooks []*admissionv1.WebhookClientConfig
		for w := range o.Webhooks {
			webhooks = append(webhooks, &o.Webhooks[w].ClientConfig)
		}
		if i.trust(webhooks, authorities) {
			errs = append(errs, i.Patch(ctx, o, before))
		}
	}
	var mutating admissionv1.MutatingWebhookConfigurationList
	errs = append(errs, i.List(ctx, &mutating))
	for n := range mutating.Items {
		o := &mutating.Items[n]
		before := client.StrategicMergeFrom(o.DeepCopy())
		var webhooks []*admissionv1.WebhookClientConfig
		for w := range o.Webhooks {
			webhooks = append(webhooks, &o.Webhooks[w].ClientConfig)
		}
		if i.trust(webhooks, authorities) {
			errs = append(errs, i.Patch(ctx, o, before))
		}
	}
	definitions := definitionList()
	errs = append(errs, i.List(ctx, definitions))
	for n := range definitions.Items {
		errs = append(errs, i.injectConversion(ctx, &definitions.Items[n], authorities))
	}
	return errors.Join(errs...)
}

// trust sets the CA of the webhooks that call the Service. It reports whether that is a change.
func (i *issuer) trust(webhooks []*admissionv1.WebhookClientConfig, authorities []byte) bool {
	changed := false
	for _, w := range webhooks {
		ours := w.Service != nil && w.Service.Name == i.service.Name && w.Service.Namespace == i.service.Namespace
		if ours && !bytes.Equal(w.CABundle, authorities) {
			w.CABundle, changed = authorities, true
		}
	}
	return changed
}

// injectConversion sets the CA of a CRD whose conversion calls the Service.
func (i *issuer) injectConversion(ctx context.Context, crd *unstructured.Unstructured, authorities []byte) error {
	path := []string{"spec", "conversion", "webhook", "clientConfig"}
	config, _, _ := unstructured.NestedMap(crd.Object, path...)
	name, _, _ := unstructured.NestedString(config, "service", "name")
	namespace, _, _ := unstructured.NestedString(config, "service", "namespace")
	if name != i.service.Name || namespace != i.service.Namespace {
		return nil
	}
	before := crd.DeepCopy()
	encoded := base64.StdEncoding.EncodeToString(authorities)
	if config["caBundle"] == encoded {
		return nil
	}
	if err := unstructured.SetNestedField(crd.Object, encoded, append(path, "caBundle")...); err != nil {
		return err
	}
	return i.Patch(ctx, crd, client.MergeFrom(before))
}

// definitionList returns an empty list of CRDs. Their types would be another dependency of the module.
func definitionList() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("apiextensions.k8s.io/v1")
	list.SetKind("CustomResourceDefinitionList")
	return list
}
