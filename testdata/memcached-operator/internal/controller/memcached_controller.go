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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	cachev1alpha1 "github.com/example/memcached-operator/api/v1alpha1"
)

const (
	// memcachedFinalizer keeps a deleted Memcached in place until cleanUp is done.
	memcachedFinalizer = "cache.example.com/finalizer"
	// memcachedImage is what the pods run where the manager's environment names no other image.
	memcachedImage = "memcached:1.6.39-alpine"
	// memcachedApp names the application in labels, and the container in the pods.
	memcachedApp = "memcached"
	// memcachedManager names this operator in labels.
	memcachedManager = "memcached-operator"
)

// The conditions of a Memcached.
const (
	memcachedAvailable   = "Available"
	memcachedProgressing = "Progressing"
	memcachedDegraded    = "Degraded"
)

// MemcachedReconciler runs a Deployment for each Memcached.
type MemcachedReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder
	// Image is what the pods run; when empty, memcachedImage.
	Image string
}

// The markers below become the manager's role. Ask for a verb or a resource here before the code uses it.

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=update
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile makes the Deployment of the Memcached that the request names what the spec asks for, and
// reports in the status how the Deployment is doing. It runs after every change of the Memcached, of its
// Deployment and of its pods, and again when it returned an error, so it must come to the same end however
// often it runs.
func (r *MemcachedReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := &cachev1alpha1.Memcached{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// The object may be gone by now: then there is nothing left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !obj.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.finalize(ctx, obj)
	}
	if controllerutil.AddFinalizer(obj, memcachedFinalizer) {
		if err := r.Update(ctx, obj); err != nil {
			return ctrl.Result{}, fmt.Errorf("adding the finalizer: %w", err)
		}
	}

	deployment, err := r.reconcileDeployment(ctx, obj)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		// The manager's cache is behind the API server and about to catch up.
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, errors.Join(err, r.updateStatus(ctx, obj, deployment, err))
}

// finalize lets a deleted object go once cleanUp is done. The Deployment is not its concern: Kubernetes
// deletes what the object owns.
func (r *MemcachedReconciler) finalize(ctx context.Context, obj *cachev1alpha1.Memcached) error {
	if !controllerutil.ContainsFinalizer(obj, memcachedFinalizer) {
		return nil
	}
	if err := r.cleanUp(ctx, obj); err != nil {
		err = fmt.Errorf("cleaning up: %w", err)
		r.setCondition(obj, memcachedDegraded, true, "CleanUpFailed", err.Error())
		return errors.Join(err, r.Status().Update(ctx, obj))
	}
	controllerutil.RemoveFinalizer(obj, memcachedFinalizer)
	if err := r.Update(ctx, obj); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("removing the finalizer: %w", err))
	}
	r.Recorder.Eventf(obj, nil, corev1.EventTypeNormal, "CleanedUp", "Delete",
		"Cleaned up after %s", obj.Name)
	return nil
}

// cleanUp is the place for what must happen before a Memcached disappears and Kubernetes cannot do by
// itself, such as taking a backup or releasing something outside of the cluster. It runs again until it
// returns nil.
func (r *MemcachedReconciler) cleanUp(_ context.Context, _ *cachev1alpha1.Memcached) error {
	return nil
}

// reconcileDeployment creates the Deployment, or repairs where it differs from what the spec asks for. The
// Deployment that it returns tells the state even where there is an error.
func (r *MemcachedReconciler) reconcileDeployment(
	ctx context.Context, obj *cachev1alpha1.Memcached,
) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: r.namespace(obj),
		Name:      obj.Name,
	}}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		if deployment.UID != "" && !metav1.IsControlledBy(deployment, obj) {
			return errors.New("there is a Deployment of this name that belongs to someone else")
		}
		r.configure(deployment, obj)
		return controllerutil.SetControllerReference(obj, deployment, r.Scheme)
	})
	if err != nil {
		return deployment, fmt.Errorf("reconciling Deployment %s: %w", client.ObjectKeyFromObject(deployment), err)
	}
	switch result {
	case controllerutil.OperationResultCreated:
		r.Recorder.Eventf(obj, deployment, corev1.EventTypeNormal, "Created", "Create",
			"Created Deployment %s", deployment.Name)
	case controllerutil.OperationResultUpdated:
		r.Recorder.Eventf(obj, deployment, corev1.EventTypeNormal, "Updated", "Update",
			"Brought Deployment %s in line with the spec", deployment.Name)
	}
	return deployment, nil
}

// configure sets what the spec decides about the Deployment. It leaves all else as it is, so that the
// defaults that the API server fills in, and what others add, never look like a difference.
func (r *MemcachedReconciler) configure(deployment *appsv1.Deployment, obj *cachev1alpha1.Memcached) {
	if deployment.Labels == nil {
		deployment.Labels = map[string]string{}
	}
	maps.Copy(deployment.Labels, r.allLabels(obj))
	yes, no, replicas := true, false, r.size(obj)
	deployment.Spec.Replicas = &replicas
	if deployment.Spec.Selector == nil {
		// A selector cannot change after creation.
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: r.selector(obj)}
	}
	template := &deployment.Spec.Template
	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	maps.Copy(template.Labels, r.allLabels(obj))
	// Together with the container's, these settings meet the restricted Pod Security Standard.
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
		Name:          "main",
		ContainerPort: obj.Spec.ContainerPort,
		Protocol:      corev1.ProtocolTCP,
	}}
	user := int64(1001)
	container.SecurityContext = &corev1.SecurityContext{
		RunAsUser:                &user,
		RunAsNonRoot:             &yes,
		AllowPrivilegeEscalation: &no,
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// updateStatus writes the status that follows from the Deployment, its pods and the error that reconciling
// the Deployment ended with, unless the object has that status already.
func (r *MemcachedReconciler) updateStatus(
	ctx context.Context, obj *cachev1alpha1.Memcached, deployment *appsv1.Deployment, failure error,
) error {
	nodes, err := r.podNames(ctx, obj)
	if err != nil {
		return fmt.Errorf("listing the pods: %w", err)
	}
	// Someone else's Deployment says nothing about this object.
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
	reason, trouble := r.trouble(current, failure)
	switch {
	case reason != "":
		r.setCondition(obj, memcachedProgressing, false, reason, "The Deployment does not advance, see Degraded")
	case rolledOut:
		r.setCondition(obj, memcachedProgressing, false, "RolledOut", "The Deployment is as the spec asks for")
	default:
		r.setCondition(obj, memcachedProgressing, true, "RollingOut",
			fmt.Sprintf("%d of %d pods are up to date", current.UpdatedReplicas, size))
	}
	if reason != "" {
		r.setCondition(obj, memcachedDegraded, true, reason, trouble)
	} else {
		r.setCondition(obj, memcachedDegraded, false, "AsExpected", "There is no known problem")
	}

	if equality.Semantic.DeepEqual(before, &obj.Status) {
		return nil
	}
	if err := r.Status().Update(ctx, obj); err != nil {
		return fmt.Errorf("updating the status: %w", err)
	}
	return nil
}

// trouble names the reason why the Deployment does not get where it should, and describes it. Both are empty
// when all is well.
func (r *MemcachedReconciler) trouble(current appsv1.DeploymentStatus, failure error) (reason, message string) {
	if failure != nil {
		return "DeploymentFailed", failure.Error()
	}
	for _, c := range current.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue ||
			c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse {
			return cmp.Or(c.Reason, string(c.Type)), c.Message
		}
	}
	return "", ""
}

// setCondition sets one condition of the object and notes the generation that it is about.
func (r *MemcachedReconciler) setCondition(
	obj *cachev1alpha1.Memcached, name string, holds bool, reason, message string,
) {
	status := metav1.ConditionFalse
	if holds {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
		Type:               name,
		Status:             status,
		Reason:             reason,
		Message:            message,
		ObservedGeneration: obj.Generation,
	})
}

// podNames lists the object's pods, sorted, without those that are on their way out. It asks for metadata
// alone, which is all that the manager then caches of pods.
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

// namespace is where the Deployment of the object goes.
func (r *MemcachedReconciler) namespace(obj *cachev1alpha1.Memcached) string {
	return obj.Namespace
}

// size is how many pods the object asks for. The API server fills in the default before anyone reads it.
func (r *MemcachedReconciler) size(obj *cachev1alpha1.Memcached) int32 {
	if obj.Spec.Size == nil {
		return 1
	}
	return *obj.Spec.Size
}

// selector is the part of the labels that tells the object's pods from all others.
func (r *MemcachedReconciler) selector(obj *cachev1alpha1.Memcached) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":     memcachedApp,
		"app.kubernetes.io/instance": obj.Name,
	}
}

// allLabels are the labels of the Deployment and of its pods.
func (r *MemcachedReconciler) allLabels(obj *cachev1alpha1.Memcached) map[string]string {
	all := r.selector(obj)
	all["app.kubernetes.io/managed-by"] = memcachedManager
	return all
}

// requestForPod names the object that a pod belongs to, by the pod's labels.
func (r *MemcachedReconciler) requestForPod(_ context.Context, pod client.Object) []ctrl.Request {
	of := pod.GetLabels()
	if of["app.kubernetes.io/name"] != memcachedApp || of["app.kubernetes.io/managed-by"] != memcachedManager {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{
		Namespace: pod.GetNamespace(),
		Name:      of["app.kubernetes.io/instance"],
	}}}
}

// SetupWithManager has the manager call Reconcile for every change of a Memcached, its Deployment or its pods.
func (r *MemcachedReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		// A new status is this controller's own work: no reason to run again.
		For(&cachev1alpha1.Memcached{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		WatchesMetadata(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.requestForPod)).
		Named("memcached").
		Complete(r)
}
