package controller

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	crewv1 "example.com/ssa-operator/api/v1"
)

var _ = Describe("Cook controller", func() {
	const image = "example.com/image:v1"

	var (
		skipNames  = true
		reconciler *CookReconciler
		recorder   *events.FakeRecorder
		obj        *crewv1.Cook
		// writes counts the reconciler's requests to create and update.
		writes int
		// createErr and statusErr are returned for the reconciler's requests to create an object and to update a status.
		createErr, statusErr error
		// rollout is the status of the Deployment that the reconciler reads, in place of the real one.
		rollout appsv1.DeploymentStatus
		// key is the namespace and name of the Deployment.
		key client.ObjectKey
	)

	number := func(n int32) *int32 { return &n }
	// sample returns the object in config/samples with other metadata.
	sample := func(metadata metav1.ObjectMeta) *crewv1.Cook {
		GinkgoHelper()
		text, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", "crew_v1_cook.yaml"))
		Expect(err).NotTo(HaveOccurred())
		o := &crewv1.Cook{}
		Expect(yaml.Unmarshal(text, o)).To(Succeed())
		o.ObjectMeta = metadata
		return o
	}
	// reconcile runs the reconciler and reads the object again. It repeats this if the reconciler asks for it, as after a
	// conflict with another controller.
	reconcile := func() (err error) {
		GinkgoHelper()
		Eventually(func() (result ctrl.Result) {
			result, err = reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
			return result
		}).WithTimeout(time.Minute).Should(BeZero())
		Expect(client.IgnoreNotFound(k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj))).To(Succeed())
		return err
	}
	deployment := func() *appsv1.Deployment {
		GinkgoHelper()
		d := &appsv1.Deployment{}
		Expect(k8sClient.Get(ctx, key, d)).To(Succeed())
		return d
	}
	// change edits the Deployment as another user of the cluster would.
	change := func(edit func(d *appsv1.Deployment)) {
		GinkgoHelper()
		d := deployment()
		before := client.MergeFrom(d.DeepCopy())
		edit(d)
		Expect(k8sClient.Patch(ctx, d, before)).To(Succeed())
	}
	// report sets the status of the Deployment that the reconciler reads. Where a Deployment controller runs, it doesn't
	// interfere, and a spec can let a rollout fail.
	report := func(available int32, conditions ...appsv1.DeploymentCondition) {
		GinkgoHelper()
		d := deployment()
		rollout = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation,
			Replicas:           *d.Spec.Replicas,
			UpdatedReplicas:    *d.Spec.Replicas,
			ReadyReplicas:      available,
			AvailableReplicas:  available,
			Conditions:         conditions,
		}
	}
	// addPod creates a pod with the labels and the template of the Deployment.
	addPod := func(name string) *corev1.Pod {
		GinkgoHelper()
		template := deployment().Spec.Template
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name, Labels: template.Labels},
			Spec:       template.Spec,
		}
		Expect(k8sClient.Create(ctx, pod)).To(Succeed())
		return pod
	}
	// status returns a condition's status and checks that the condition is about the object's generation.
	status := func(name string) metav1.ConditionStatus {
		GinkgoHelper()
		condition := meta.FindStatusCondition(obj.Status.Conditions, name)
		Expect(condition).NotTo(BeNil(), "condition %s not found", name)
		Expect(condition.ObservedGeneration).To(Equal(obj.Generation), "condition %s is out of date", name)
		return condition.Status
	}
	reason := func(name string) string {
		GinkgoHelper()
		condition := meta.FindStatusCondition(obj.Status.Conditions, name)
		Expect(condition).NotTo(BeNil(), "condition %s not found", name)
		return condition.Reason
	}
	container := func(d *appsv1.Deployment) *corev1.Container {
		GinkgoHelper()
		Expect(d.Spec.Template.Spec.Containers).To(HaveLen(1))
		return &d.Spec.Template.Spec.Containers[0]
	}
	// restricted returns a client configuration with the permissions of config/rbac/role.yaml only, so that a missing
	// RBAC marker fails here rather than in a cluster.
	restricted := func() *rest.Config {
		GinkgoHelper()
		text, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", "role.yaml"))
		Expect(err).NotTo(HaveOccurred())
		role := &rbacv1.ClusterRole{}
		Expect(yaml.Unmarshal(text, role)).To(Succeed())
		role.ObjectMeta = metav1.ObjectMeta{GenerateName: "manager-"}
		Expect(k8sClient.Create(ctx, role)).To(Succeed())
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role.Name}},
		}
		Expect(k8sClient.Create(ctx, binding)).To(Succeed())
		manager := rest.CopyConfig(cfg)
		manager.Impersonate = rest.ImpersonationConfig{UserName: role.Name, Groups: []string{"system:authenticated"}}
		return manager
	}

	BeforeEach(func() {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
		Expect(k8sClient.Create(ctx, namespace)).To(Succeed())

		writes, createErr, statusErr, rollout = 0, nil, nil, appsv1.DeploymentStatus{}
		withRollout := func(o client.Object, err error) error {
			if d, ok := o.(*appsv1.Deployment); ok {
				d.Status = *rollout.DeepCopy()
			}
			return err
		}
		base, err := client.NewWithWatch(cfg, client.Options{Scheme: scheme.Scheme})
		Expect(err).NotTo(HaveOccurred())
		intercepted := interceptor.NewClient(base, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object,
				opts ...client.GetOption) error {
				return withRollout(o, c.Get(ctx, k, o, opts...))
			},
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				writes++
				if createErr != nil {
					return createErr
				}
				return withRollout(o, c.Create(ctx, o, opts...))
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				writes++
				return withRollout(o, c.Update(ctx, o, opts...))
			},
			SubResourceApply: func(ctx context.Context, c client.Client, sub string, o runtime.ApplyConfiguration,
				opts ...client.SubResourceApplyOption) error {
				writes++
				if statusErr != nil {
					return statusErr
				}
				return c.SubResource(sub).Apply(ctx, o, opts...)
			},
		})
		recorder = events.NewFakeRecorder(100)
		reconciler = &CookReconciler{
			Client:   intercepted,
			Scheme:   scheme.Scheme,
			Recorder: recorder,
			Image:    image,
		}

		obj = sample(metav1.ObjectMeta{Namespace: namespace.Name, GenerateName: "test-"})
		obj.Spec.Size = number(1)
		Expect(k8sClient.Create(ctx, obj)).To(Succeed())
		key = client.ObjectKey{Namespace: namespace.Name, Name: obj.Name}
		DeferCleanup(func() {
			Expect(client.IgnoreNotFound(k8sClient.Delete(ctx, obj))).To(Succeed())
		})
	})

	It("creates a Deployment that the object owns", func() {
		Expect(reconcile()).To(Succeed())

		d := deployment()
		Expect(metav1.IsControlledBy(d, obj)).To(BeTrue())
		Expect(*d.Spec.Replicas).To(Equal(int32(1)))
		Expect(container(d).Image).To(Equal(image))
		Expect(container(d).Resources.Requests).To(HaveKey(corev1.ResourceMemory))
		Expect(d.Spec.Template.Spec.SecurityContext.RunAsNonRoot).To(HaveValue(BeTrue()))
		Expect(container(d).SecurityContext.AllowPrivilegeEscalation).To(HaveValue(BeFalse()))
		Expect(recorder.Events).To(Receive(ContainSubstring("Created Deployment " + obj.Name)))

		Expect(status(cookAvailable)).To(Equal(metav1.ConditionFalse))
		Expect(status(cookProgressing)).To(Equal(metav1.ConditionTrue))
		Expect(status(cookDegraded)).To(Equal(metav1.ConditionFalse))
	})

	It("meets the restricted Pod Security Standard", func() {
		namespace := &corev1.Namespace{}
		Expect(k8sClient.Get(ctx, client.ObjectKey{Name: key.Namespace}, namespace)).To(Succeed())
		namespace.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
		Expect(k8sClient.Update(ctx, namespace)).To(Succeed())

		Expect(reconcile()).To(Succeed())
		addPod("restricted")
	})

	It("reports the pods and their availability", func() {
		Expect(reconcile()).To(Succeed())
		addPod("b")
		addPod("a")
		report(1)
		Expect(reconcile()).To(Succeed())

		// Where controllers run, the Deployment has a pod of its own.
		Expect(obj.Status.Nodes).To(ContainElements("a", "b"))
		Expect(slices.IsSorted(obj.Status.Nodes)).To(BeTrue(), "%v is not sorted", obj.Status.Nodes)
		Expect(obj.Status.Replicas).To(Equal(int32(1)))
		Expect(status(cookAvailable)).To(Equal(metav1.ConditionTrue))
		Expect(status(cookProgressing)).To(Equal(metav1.ConditionFalse))
		Expect(status(cookDegraded)).To(Equal(metav1.ConditionFalse))
	})

	It("scales the Deployment", func() {
		Expect(reconcile()).To(Succeed())
		report(1)
		obj.Spec.Size = number(3)
		Expect(k8sClient.Update(ctx, obj)).To(Succeed())
		Expect(reconcile()).To(Succeed())

		Expect(*deployment().Spec.Replicas).To(Equal(int32(3)))
		Expect(status(cookAvailable)).To(Equal(metav1.ConditionFalse))
		Expect(status(cookProgressing)).To(Equal(metav1.ConditionTrue))

		report(3)
		Expect(reconcile()).To(Succeed())
		Expect(status(cookAvailable)).To(Equal(metav1.ConditionTrue))
		Expect(status(cookProgressing)).To(Equal(metav1.ConditionFalse))

		By("scaling to zero")
		obj.Spec.Size = number(0)
		Expect(k8sClient.Update(ctx, obj)).To(Succeed())
		Expect(reconcile()).To(Succeed())
		Expect(*deployment().Spec.Replicas).To(BeZero())
	})

	It("writes nothing when nothing has changed", func() {
		Expect(reconcile()).To(Succeed())
		report(1)
		// Where controllers run, a pod appears during the first passes.
		Eventually(func() int {
			writes = 0
			Expect(reconcile()).To(Succeed())
			return writes
		}).WithTimeout(time.Minute).Should(BeZero())
	})

	It("reverts changes of the Deployment", func() {
		Expect(reconcile()).To(Succeed())
		change(func(d *appsv1.Deployment) {
			d.Spec.Replicas = number(7)
			container(d).Image = "example.com/other:v1"
		})
		Expect(reconcile()).To(Succeed())

		d := deployment()
		Expect(*d.Spec.Replicas).To(Equal(int32(1)))
		Expect(container(d).Image).To(Equal(image))
	})

	It("rolls out another image", func() {
		Expect(reconcile()).To(Succeed())
		reconciler.Image = ""
		Expect(reconcile()).To(Succeed())
		Expect(container(deployment()).Image).To(Equal(cookImage))
		Expect(recorder.Events).To(Receive(ContainSubstring("Created Deployment")))
		Expect(recorder.Events).To(Receive(ContainSubstring("Updated Deployment")))
	})

	It("is degraded while the Deployment fails, and recovers", func() {
		Expect(reconcile()).To(Succeed())
		report(0, appsv1.DeploymentCondition{
			Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue,
			Reason: "FailedCreate", Message: "exceeded quota",
		})
		Expect(reconcile()).To(Succeed())
		Expect(status(cookDegraded)).To(Equal(metav1.ConditionTrue))
		Expect(reason(cookDegraded)).To(Equal("FailedCreate"))
		Expect(status(cookAvailable)).To(Equal(metav1.ConditionFalse))

		report(0, appsv1.DeploymentCondition{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse,
			Reason: "ProgressDeadlineExceeded", Message: "timed out",
		})
		Expect(reconcile()).To(Succeed())
		Expect(status(cookDegraded)).To(Equal(metav1.ConditionTrue))
		Expect(reason(cookDegraded)).To(Equal("ProgressDeadlineExceeded"))

		report(1)
		Expect(reconcile()).To(Succeed())
		Expect(status(cookDegraded)).To(Equal(metav1.ConditionFalse))
		Expect(status(cookAvailable)).To(Equal(metav1.ConditionTrue))
	})

	It("is degraded while the Deployment cannot be created, and recovers", func() {
		createErr = errors.New("exceeded quota")
		Expect(reconcile()).To(MatchError(ContainSubstring("exceeded quota")))
		Expect(status(cookDegraded)).To(Equal(metav1.ConditionTrue))
		Expect(reason(cookDegraded)).To(Equal("ReconcileFailed"))
		Expect(status(cookAvailable)).To(Equal(metav1.ConditionFalse))

		createErr = nil
		Expect(reconcile()).To(Succeed())
		Expect(status(cookDegraded)).To(Equal(metav1.ConditionFalse))
	})

	It("does not change a Deployment of another owner", func() {
		taken := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
			Spec: appsv1.DeploymentSpec{
				Replicas: number(5),
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "other"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "other", Image: "other"}}},
				},
			},
		}
		Expect(k8sClient.Create(ctx, taken)).To(Succeed())
		report(5)

		Expect(reconcile()).To(MatchError(ContainSubstring("belongs to another owner")))
		Expect(*deployment().Spec.Replicas).To(Equal(int32(5)))
		Expect(status(cookDegraded)).To(Equal(metav1.ConditionTrue))
		Expect(status(cookAvailable)).To(Equal(metav1.ConditionFalse))
	})

	It("reconciles again, without an error, when its cache is outdated", func() {
		outdated := func() {
			GinkgoHelper()
			result, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
			Expect(err).NotTo(HaveOccurred())
			Expect(result.RequeueAfter).NotTo(BeZero())
		}
		createErr = apierrors.NewAlreadyExists(appsv1.Resource("deployments"), obj.Name)
		outdated()
		createErr, statusErr = nil, apierrors.NewConflict(
			schema.GroupResource{Group: "crew.example.com", Resource: "cooks"}, obj.Name, errors.New("it was modified"))
		outdated()

		By("waiting until the Deployment of a deleted object of the same name is deleted")
		statusErr = nil
		Expect(reconcile()).To(Succeed())
		// The finalizer keeps the Deployment where a garbage collector runs.
		change(func(d *appsv1.Deployment) { d.Finalizers = []string{"example.com/test"} })
		name := obj.Name
		Expect(k8sClient.Delete(ctx, obj)).To(Succeed())
		obj = sample(metav1.ObjectMeta{Namespace: key.Namespace, Name: name})
		Expect(k8sClient.Create(ctx, obj)).To(Succeed())
		outdated()
		Expect(k8sClient.Delete(ctx, deployment())).To(Succeed())
		change(func(d *appsv1.Deployment) { d.Finalizers = nil })
		Expect(reconcile()).To(Succeed())
		Expect(metav1.IsControlledBy(deployment(), obj)).To(BeTrue())
	})

	It("ignores an object that is being deleted or does not exist", func() {
		obj.Finalizers = []string{"example.com/test"}
		Expect(k8sClient.Update(ctx, obj)).To(Succeed())
		Expect(k8sClient.Delete(ctx, obj)).To(Succeed())
		Expect(reconcile()).To(Succeed())
		obj.Finalizers = nil
		Expect(k8sClient.Update(ctx, obj)).To(Succeed())
		Expect(reconcile()).To(Succeed())
		Expect(writes).To(BeZero())
	})

	It("follows the object, its Deployment and its pods when a manager runs it", func() {
		mgr, err := ctrl.NewManager(restricted(), ctrl.Options{
			Scheme:     scheme.Scheme,
			Metrics:    metricsserver.Options{BindAddress: "0"},
			Controller: config.Controller{SkipNameValidation: &skipNames},
		})
		Expect(err).NotTo(HaveOccurred())
		managed := &CookReconciler{
			Client:   mgr.GetClient(),
			Scheme:   mgr.GetScheme(),
			Recorder: mgr.GetEventRecorder("test"),
		}
		Expect(managed.SetupWithManager(mgr)).To(Succeed())
		run, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- mgr.Start(run) }()
		DeferCleanup(func() {
			stop()
			Eventually(stopped).WithTimeout(time.Minute).Should(Receive(Succeed()))
		})
		eventually := func(check func(g Gomega)) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj)).To(Succeed())
				check(g)
			}).WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(Succeed())
		}

		By("creating the Deployment")
		eventually(func(g Gomega) {
			g.Expect(k8sClient.Get(ctx, key, &appsv1.Deployment{})).To(Succeed())
			g.Expect(meta.FindStatusCondition(obj.Status.Conditions, cookProgressing)).NotTo(BeNil())
		})

		By("recording events")
		eventually(func(g Gomega) {
			list := &eventsv1.EventList{}
			g.Expect(k8sClient.List(ctx, list)).To(Succeed())
			g.Expect(list.Items).To(ContainElement(And(
				HaveField("Regarding.Name", obj.Name), HaveField("Reason", "Created"))))
		})

		By("seeing the Deployment become available")
		report(1)
		eventually(func(g Gomega) {
			// Where a Deployment controller runs, it reports the same sooner or later.
			d := deployment()
			d.Status = rollout
			g.Expect(k8sClient.Status().Update(ctx, d)).To(Succeed())
			g.Expect(meta.IsStatusConditionTrue(obj.Status.Conditions, cookAvailable)).To(BeTrue())
		})

		By("seeing a pod come and go")
		pod := addPod("seen")
		eventually(func(g Gomega) { g.Expect(obj.Status.Nodes).To(ContainElement("seen")) })
		Expect(k8sClient.Delete(ctx, pod, client.GracePeriodSeconds(0))).To(Succeed())
		eventually(func(g Gomega) { g.Expect(obj.Status.Nodes).NotTo(ContainElement("seen")) })

		By("creating the Deployment again after it is deleted")
		old := deployment()
		Expect(k8sClient.Delete(ctx, old)).To(Succeed())
		eventually(func(g Gomega) {
			d := &appsv1.Deployment{}
			g.Expect(k8sClient.Get(ctx, key, d)).To(Succeed())
			g.Expect(d.UID).NotTo(Equal(old.UID))
		})
	})
})
