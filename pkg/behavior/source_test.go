package behavior_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const controllerSource = `package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchv1apply "k8s.io/client-go/applyconfigurations/batch/v1"
	certv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"

	cachev1 "example.com/app/api/v1"
	cachev1apply "example.com/app/api/v1/applyconfiguration/api/v1"
	otherv1 "example.com/app/other/v1"
)

func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) error {
	obj := &cachev1.Memcached{}
	_ = r.Get(ctx, req.NamespacedName, obj)                        // L get memcacheds.cache.example.com
	deployment := &appsv1.Deployment{}
	_, _ = controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error { return nil }) // L create deployments.apps
	_ = r.Delete(ctx, &corev1.Secret{})                            // L delete secrets
	var services corev1.ServiceList
	_ = r.List(ctx, &services)                                     // L list services
	job := batchv1apply.Job("a", "b").WithLabels(nil)
	_ = r.Apply(ctx, job)                                          // L patch jobs.batch
	pods := &metav1.PartialObjectMetadataList{}
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	_ = r.List(ctx, pods)                                          // L list pods
	_ = r.Create(ctx, new(certv1.Certificate))                     // L create certificates.cert-manager.io
	_ = r.Create(ctx, unknown())
	applied := cachev1apply.Memcached("a", "b").WithStatus(nil)
	_ = r.Status().Apply(ctx, applied)                             // L patch memcacheds.cache.example.com/status
	return r.writeStatus(ctx, obj)
}

func (r *Reconciler) writeStatus(ctx context.Context, memcached *cachev1.Memcached) error {
	a, b := &cachev1.Twin{}, &otherv1.Twin{}
	_ = r.Update(ctx, a) // L update twins.cache.example.com
	_ = r.Update(ctx, b) // L update twins.other.example.com
	return r.Status().Update(ctx, memcached) // L update memcacheds.cache.example.com/status
}

func (r *Reconciler) twice(ctx context.Context) {
	{
		x := &corev1.Node{}
		_ = r.Patch(ctx, x, nil)
	}
	x := &corev1.Pod{}
	_ = r.Patch(ctx, x, nil)
}

func (r *Reconciler) reconcilePolicy(ctx context.Context) error {
	policy, budget := &networkingv1.NetworkPolicy{}, &policyv1.PodDisruptionBudget{}
	_ = removed(ctx, r.Client, budget) // L delete poddisruptionbudgets.policy
	_ = r.notHelping(ctx, &corev1.Event{})
	_ = r.ambiguous(ctx, &corev1.Endpoints{})
	return r.ensure(ctx, policy) // L update networkpolicies.networking.k8s.io
}

func (r *Reconciler) ensure(ctx context.Context, obj client.Object) error { return r.createOrUpdate(ctx, nil, obj) }

func (r *Reconciler) createOrUpdate(ctx context.Context, owner, owned client.Object) error {
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, owned, func() error { return nil })
	return err
}

func removed[T client.Object](ctx context.Context, c client.Client, obj T) error { return c.Delete(ctx, obj) }

func (r *Reconciler) notHelping(ctx context.Context, obj client.Object) error {
	other := r.made(obj)
	return r.Create(ctx, other)
}

func (r *Reconciler) ambiguous(ctx context.Context, obj client.Object) error { return r.Create(ctx, obj) }

func (a another) ambiguous(ctx context.Context, obj client.Object) error { return nil }

func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&cachev1.Memcached{}).
		Owns(&corev1.ConfigMap{}). // L watch configmaps
		Owns(&batchv1.Job{}).
		WatchesMetadata(&corev1.Pod{}, nil).
		Complete(r)
}
`

// TestSourceOf checks that a request is found on the line that says so, and requests that no line says aren't.
func TestSourceOf(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"go.mod": "module example.com/app\n", "controller.go": controllerSource,
		"controller_test.go": "package controller\n\nfunc test() { _ = c.Create(ctx, &corev1.Secret{}) }\n",
		"api/v1/group.go":    "package v1\n\nvar GroupVersion = schema.GroupVersion{Group: \"cache.example.com\", Version: \"v1\"}\n",
		"other/v1/group.go":  "package v1\n\nvar GroupVersion = schema.GroupVersion{Group: \"other.example.com\", Version: \"v1\"}\n",
	} {
		if err := afero.WriteFile(fs, "/p/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source := behavior.SourceOf(worktree.NewTree(fs, "/p"))
	requests := map[string]string{
		"create secrets": "", "create events": "", "create endpoints": "", "update configmaps": "", "list secrets": "", "create deployments.extensions": "", "update memcacheds.cache.example.com": "",
		"list services.serving.knative.dev": "", "patch nodes": "", "patch pods": "", "create certificates.acme.io": "", "update deployments.apps/status": "", "get memcacheds.other.io": "",
	}
	for i, line := range strings.Split(controllerSource, "\n") {
		if _, request, found := strings.Cut(line, "// L "); found {
			requests[request] = fmt.Sprintf("controller.go:%d", i+1)
		}
	}
	for request, want := range requests {
		verb, target, _ := strings.Cut(request, " ")
		target, subresource, isSub := strings.Cut(target, "/")
		resource, group, _ := strings.Cut(target, ".")
		if isSub {
			resource += "/" + subresource
		}
		at := source(stage.Denial{Verb: verb, Resource: resource, Group: group})
		at.Column = 0
		if got := at.String(); got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
}
