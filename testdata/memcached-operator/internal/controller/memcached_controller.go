/*
Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	cachev1alpha1 "github.com/example/memcached-operator/api/v1alpha1"
)

const (
	// memcachedImage is the image of the pods unless the manager's environment sets another.
	memcachedImage = "memcached:1.6.39-alpine"
	// memcachedApp is the name of the application in labels, and of the container in the pods.
	memcachedApp = "memcached"
	// memcachedPort is the name of the port in the pods and in the Service.
	memcachedPort = "main"
	// memcachedManager is the name of this operator in labels.
	memcachedManager = "memcached-operator"
)

// Condition types of a Memcached.
const (
	memcachedAvailable   = "Available"
	memcachedProgressing = "Progressing"
	memcachedDegraded    = "Degraded"
)

// MemcachedReconciler reconciles Memcached objects: it runs a Deployment and a Service for each.
type MemcachedReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder
	// Image is the image of the pods. The default is memcachedImage.
	Image string
}

// The manager's role is generated from the markers below: add the verbs and resources that the code uses. Some clusters,
// such as OpenShift, require permission to update finalizers for setting an owner reference.

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=update
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=core,resources=services,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile creates or updates the Deployment and the Service of a Memcached and reports the state in the status. It runs
// whenever the Memcached, its Deployment, its Service or its pods change, and again after an error, so it must be
// idempotent.
func (r *MemcachedReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := &cachev1alpha1.Memcached{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// Ignore objects that no longer exist.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !obj.DeletionTimestamp.IsZero() {
		// Kubernetes deletes owned objects with their owner. Add a finalizer to clean up anything else.
		return ctrl.Result{}, nil
	}

	deployment, err := r.reconcileDeployment(ctx, obj)
	if err == nil {
		err = r.reconcileService(ctx, obj)
	}
	if !r.isOutdated(err) {
		err = errors.Join(err, r.updateStatus(ctx, obj, deployment, err))
	}
	if r.isOutdated(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}

// isOutdated reports whether a write failed because the manager's cache is outdated. The object is then reconciled again
// instead of returning an error.
func (r *MemcachedReconciler) isOutdated(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

// reconcileDeployment creates the Deployment, or updates it if it differs from the desired state. On error, it returns
// the Deployment as last read.
func (r *MemcachedReconciler) reconcileDeployment(
	ctx context.Context, obj *cachev1alpha1.Memcached,
) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: r.namespace(obj),
		Name:      obj.Name,
	}}
	err := r.createOrUpdate(ctx, obj, deployment, "Deployment", func() { r.configure(deployment, obj) })
	return deployment, err
}

// reconcileService creates the Service through which clients reach the pods, or updates it if it differs from the
// desired state.
func (r *MemcachedReconciler) reconcileService(ctx context.Context, obj *cachev1alpha1.Memcached) error {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: r.namespace(obj),
		Name:      obj.Name,
	}}
	return r.createOrUpdate(ctx, obj, service, "Service", func() {
		service.Labels = r.withAllLabels(service.Labels, obj)
		service.Spec.Selector = r.selector(obj)
		i := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == memcachedPort })
		if i < 0 {
			i = len(service.Spec.Ports)
			service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: memcachedPort})
		}
		port := &service.Spec.Ports[i]
		port.Protocol = corev1.ProtocolTCP
		port.Port = obj.Spec.ContainerPort
		port.TargetPort = intstr.FromString(memcachedPort)
	})
}

// createOrUpdate creates an object that obj owns, or updates it if configure changes it. It reports what it did in the log
// and as an event. On error, the object is as last read.
func (r *MemcachedReconciler) createOrUpdate(
	ctx context.Context, obj *cachev1alpha1.Memcached, owned client.Object, kind string, configure func(),
) error {
	log := logf.FromContext(ctx)
	groupResource := schema.GroupResource{Resource: kind}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, owned, func() error {
		if owned.GetUID() != "" && !metav1.IsControlledBy(owned, obj) {
			owner := metav1.GetControllerOf(owned)
			if owner != nil && owner.Kind == "Memcached" && owner.Name == obj.Name {
				// The garbage collector is about to delete the object of a deleted Memcached of the same name.
				return apierrors.NewAlreadyExists(groupResource, owned.GetName())
			}
			return errors.New("it already exists and belongs to another owner")
		}
		configure()
		return controllerutil.SetControllerReference(obj, owned, r.Scheme)
	})
	if owned.GetUID() != "" && apierrors.IsNotFound(err) {
		err = apierrors.NewConflict(groupResource, owned.GetName(), err) // deleted since it was read
	}
	if err != nil {
		return fmt.Errorf("reconciling %s %s: %w", kind, client.ObjectKeyFromObject(owned), err)
	}
	switch result {
	case controllerutil.OperationResultCreated:
		log.Info("Created an object", "kind", kind, "name", owned.GetName())
		r.Recorder.Eventf(obj, owned, corev1.EventTypeNormal, "Created", "Create",
			"Created %s %s", kind, owned.GetName())
	case controllerutil.OperationResultUpdated:
		log.Info("Updated an object", "kind", kind, "name", owned.GetName())
		r.Recorder.Eventf(obj, owned, corev1.EventTypeNormal, "Updated", "Update",
			"Updated %s %s", kind, owned.GetName())
	}
	return nil
}

// configure sets the fields of the Deployment that the spec determines. It leaves all other fields unchanged, so that
// defaults set by the API server and changes by other controllers cause no update.
func (r *MemcachedReconciler) configure(deployment *appsv1.Deployment, obj *cachev1alpha1.Memcached) {
	deployment.Labels = r.withAllLabels(deployment.Labels, obj)
	yes, no, replicas := true, false, r.size(obj)
	deployment.Spec.Replicas = &replicas
	if deployment.Spec.Selector == nil {
		// The selector is immutable.
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: r.selector(obj)}
	}
	template := &deployment.Spec.Template
	template.Labels = r.withAllLabels(template.Labels, obj)
	// Together with the container's security context, this meets the restricted Pod Security Standard.
	template.Spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot:   &yes,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}

	i := slices.IndexFunc(template.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == memcachedApp
	})
	if i < 0 {
		i = len(template.Spec.Containers)
		template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Name: memcachedApp})
	}
	container := &template.Spec.Containers[i]
	container.Image = cmp.Or(r.Image, memcachedImage)
	container.Command = []string{"memcached", "-m=64", "-o", "modern", "-v"}
	if memory := obj.Spec.MemoryMegabytes; memory != nil {
		container.Command[1] = fmt.Sprintf("-m=%d", *memory)
	}
	container.Ports = []corev1.ContainerPort{{
		Name:          memcachedPort,
		ContainerPort: obj.Spec.ContainerPort,
		Protocol:      corev1.ProtocolTCP,
	}}
	// TODO: check more than whether the port is open, if the image can tell, for example over HTTP.
	container.ReadinessProbe = memcachedProbe(container.ReadinessProbe)
	container.LivenessProbe = memcachedProbe(container.LivenessProbe)
	if container.Resources.Requests == nil {
		// TODO: request what the image needs. The scheduler reserves it for each pod.
		container.Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("10m"),
			corev1.ResourceMemory: resource.MustParse("64Mi"),
		}
	}
	user := int64(1001)
	container.SecurityContext = &corev1.SecurityContext{
		RunAsUser:                &user,
		RunAsNonRoot:             &yes,
		AllowPrivilegeEscalation: &no,
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// memcachedProbe lets a probe, which can be nil, check whether the port is open. Its other fields are unchanged.
func memcachedProbe(probe *corev1.Probe) *corev1.Probe {
	if probe == nil {
		probe = &corev1.Probe{}
	}
	probe.ProbeHandler = corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString(memcachedPort)}}
	return probe
}

// updateStatus updates the status, if it has changed, from the Deployment, its pods and the error of reconciling.
func (r *MemcachedReconciler) updateStatus(
	ctx context.Context, obj *cachev1alpha1.Memcached, deployment *appsv1.Deployment, reconcileErr error,
) error {
	nodes, err := r.podNames(ctx, obj)
	if err != nil {
		return fmt.Errorf("listing the pods: %w", err)
	}
	// Ignore the status of a Deployment that belongs to another owner.
	var current appsv1.DeploymentStatus
	if metav1.IsControlledBy(deployment, obj) {
		current = deployment.Status
	}
	before := obj.Status.DeepCopy()
	obj.Status.Nodes = nodes
	obj.Status.Replicas = current.Replicas
	obj.Status.Selector = labels.SelectorFromSet(r.selector(obj)).String()

	size := r.size(obj)
	message := fmt.Sprintf("%d of %d pods are available", current.AvailableReplicas, size)
	if current.AvailableReplicas >= size {
		r.setCondition(obj, memcachedAvailable, true, "PodsAvailable", message)
	} else {
		r.setCondition(obj, memcachedAvailable, false, "PodsUnavailable", message)
	}

	rolledOut := current.ObservedGeneration >= deployment.Generation && current.UpdatedReplicas == size &&
		current.Replicas == size && current.AvailableReplicas == size
	reason, failure := r.failure(current, reconcileErr)
	switch {
	case reason != "":
		r.setCondition(obj, memcachedProgressing, false, reason, "The Deployment does not progress, see Degraded")
	case rolledOut:
		r.setCondition(obj, memcachedProgressing, false, "RolledOut", "The Deployment is up to date")
	default:
		r.setCondition(obj, memcachedProgressing, true, "RollingOut",
			fmt.Sprintf("%d of %d pods are up to date", current.UpdatedReplicas, size))
	}
	if reason != "" {
		r.setCondition(obj, memcachedDegraded, true, reason, failure)
	} else {
		r.setCondition(obj, memcachedDegraded, false, "AsExpected", "No problem found")
	}

	if equality.Semantic.DeepEqual(before, &obj.Status) {
		return nil
	}
	if err := r.Status().Update(ctx, obj); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("updating the status: %w", err)
	}
	logf.FromContext(ctx).Info("Updated the status", "available", current.AvailableReplicas, "size", size)
	return nil
}

// failure returns a reason and a message why the Deployment cannot reach the desired state. Both are empty if it can.
func (r *MemcachedReconciler) failure(current appsv1.DeploymentStatus, reconcileErr error) (reason, message string) {
	if reconcileErr != nil {
		return "ReconcileFailed", reconcileErr.Error()
	}
	for _, c := range current.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue ||
			c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse {
			return cmp.Or(c.Reason, string(c.Type)), c.Message
		}
	}
	return "", ""
}

// setCondition sets a condition of the object for its current generation.
func (r *MemcachedReconciler) setCondition(
	obj *cachev1alpha1.Memcached, conditionType string, isTrue bool, reason, message string,
) {
	status := metav1.ConditionFalse
	if isTrue {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
		Type:               conditionType,
		Status:             status,
		Reason:             reason,
		Message:            message,
		ObservedGeneration: obj.Generation,
	})
}

// podNames returns the sorted names of the object's pods, except those being deleted. It lists metadata only, so that
// the manager does not cache complete pods.
func (r *MemcachedReconciler) podNames(ctx context.Context, obj *cachev1alpha1.Memcached) ([]string, error) {
	pods := &metav1.PartialObjectMetadataList{}
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	err := r.List(ctx, pods, client.InNamespace(r.namespace(obj)), client.MatchingLabels(r.selector(obj)))
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(pods.Items))
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp.IsZero() {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// namespace returns the namespace of the object's Deployment.
func (r *MemcachedReconciler) namespace(obj *cachev1alpha1.Memcached) string {
	return obj.Namespace
}

// size returns the desired number of pods, with the default that the API server sets too.
func (r *MemcachedReconciler) size(obj *cachev1alpha1.Memcached) int32 {
	if obj.Spec.Size == nil {
		return 1
	}
	return *obj.Spec.Size
}

// selector returns the labels that select the object's pods.
func (r *MemcachedReconciler) selector(obj *cachev1alpha1.Memcached) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":     memcachedApp,
		"app.kubernetes.io/instance": obj.Name,
	}
}

// withAllLabels adds the labels of the objects that the controller creates.
func (r *MemcachedReconciler) withAllLabels(all map[string]string, obj *cachev1alpha1.Memcached) map[string]string {
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, r.selector(obj))
	all["app.kubernetes.io/managed-by"] = memcachedManager
	return all
}

// requestForPod returns a request for the object that a pod belongs to according to its labels.
func (r *MemcachedReconciler) requestForPod(_ context.Context, pod client.Object) []ctrl.Request {
	podLabels := pod.GetLabels()
	if podLabels["app.kubernetes.io/name"] != memcachedApp || podLabels["app.kubernetes.io/managed-by"] != memcachedManager {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{
		Namespace: pod.GetNamespace(),
		Name:      podLabels["app.kubernetes.io/instance"],
	}}}
}

// SetupWithManager registers the controller with the manager, for changes of a Memcached, its Deployment, its Service and its pods.
func (r *MemcachedReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&cachev1alpha1.Memcached{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		WatchesMetadata(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.requestForPod)).
		Named("memcached").
		Complete(r)
}
