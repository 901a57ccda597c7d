//go:build unix

package behavior

const (
	memcachedController = "internal/controller/memcached_controller.go"
	memcachedReconciled = "\tdeployment, err := r.reconcileDeployment(ctx, obj)\n"
	memcachedStatus     = "memcacheds.cache.example.com/status default/memcached-sample"
	lastMarker          = "// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch\n"
	deploymentMarker    = "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update\n"
	podsMarker          = "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list;watch\n"
	sameStatus          = "\tif equality.Semantic.DeepEqual(before, &obj.Status) {\n"
	ownedBy             = "return controllerutil.SetControllerReference(obj, owned, r.Scheme)"
	isOwned             = "if owned.GetUID() != \"\" && !metav1.IsControlledBy(owned, obj) {"
	setLabels           = "\tdeployment.Labels = r.withAllLabels(deployment.Labels, obj)\n"
	flipLabel           = "\tif deployment.Labels[\"side\"] == \"left\" {\n\t\tdeployment.Labels[\"side\"] = \"right\"\n\t} else {\n\t\tdeployment.Labels[\"side\"] = \"left\"\n\t}\n"
	lastReturn          = "\treturn ctrl.Result{}, err\n}\n\n// isOutdated"
	laterAgain          = "\treturn ctrl.Result{RequeueAfter: 3 * time.Second}, err\n}\n\n// isOutdated"
	soonAgain           = "\treturn ctrl.Result{RequeueAfter: time.Second}, err\n}\n\n// isOutdated"
	configured          = "\t\tconfigure()\n"
	deploymentCreated   = "kind == \"Deployment\" && result == controllerutil.OperationResultCreated"
	written             = "\tswitch result {\n"
	ownsDeployment      = "\t\tOwns(&appsv1.Deployment{}).\n"
	mapsPods            = "handler.EnqueueRequestsFromMapFunc(r.requestForPod)"
	mapsNothing         = "handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []ctrl.Request { return nil })"
	fromTemplate        = "\ttemplate := &deployment.Spec.Template\n"
	availableMessage    = "\tmessage := fmt.Sprintf(\"%d of %d pods are available\", current.AvailableReplicas, size)\n"
	configMapMarker     = "groups=core,resources=configmaps,verbs=get;create;update"
	managerRole         = "config/rbac/role_binding.yaml"
)

// deploymentFaults are the faults of controllers with a Deployment for each object.
func deploymentFaults(c string) map[string]fault {
	return map[string]fault{
		"no permission": {
			[]edit{{c, deploymentMarker, ""}}, []string{"forbidden-request"},
		},
		"no permission for the pods": {
			[]edit{{c, podsMarker, ""}}, []string{"forbidden-request"},
		},
		"all verbs": {
			[]edit{{c, deploymentMarker, marker("groups=apps,resources=deployments,verbs=*")}}, []string{"wildcard-permission ClusterRole"},
		},
		"all resources": {
			[]edit{insertBefore(c, lastMarker, marker("groups=*,resources=*,verbs=get;list;watch"))}, []string{"wildcard-permission ClusterRole"},
		},
		"no watch of the Deployment": {
			[]edit{{c, ownsDeployment, ""}, {c, mapsPods, mapsNothing}}, []string{"not-repaired deployment default/", "uncorrected-drift deployment default/"},
		},
		"Deployment that is only created": {
			[]edit{insertBefore(c, configured, "\t\tif kind == \"Deployment\" && owned.GetUID() != \"\" {\n\t\t\treturn nil\n\t\t}\n")}, []string{"uncorrected-drift deployment default/"},
		},
		"conflict that is ignored": {
			[]edit{insertBefore(c, written, "\tif "+deploymentCreated+" {\n\t\ttime.Sleep(2 * time.Second)\n"+
				"\t\towned.SetAnnotations(map[string]string{\"checked\": \"yes\"})\n\t\t_ = r.Update(ctx, owned)\n\t}\n")},
			[]string{"lost-conflict deployments.apps default/"},
		},
		"error instead of a condition": {
			[]edit{insertBefore(c, written, "\tif "+deploymentCreated+" {\n\t\treturn errors.New(\"the pods aren't ready yet\")\n\t}\n")},
			[]string{"logged-error "},
		},
		"Event for each of many": {
			[]edit{insertBefore(c, written, "\tfor i := range 12 {\n\t\tif kind != \"Deployment\" {\n\t\t\tbreak\n\t\t}\n\t\tr.Recorder.Eventf(obj, nil, corev1.EventTypeNormal, \"Checked\", fmt.Sprintf(\"Check%d\", i), \"Checked\")\n\t}\n")},
			[]string{"event-storm "},
		},
		"Event in each pass": {
			[]edit{insertBefore(c, written, "\tr.Recorder.Eventf(obj, nil, corev1.EventTypeNormal, \"Checked\", time.Now().String(), \"Checked\")\n"), {c, lastReturn, soonAgain}},
			[]string{"event-storm "},
		},
		"fight with itself": {
			[]edit{insertAfter(c, setLabels, flipLabel)}, []string{"fight-over-field deployment default/", "unsettled"},
		},
		"defaults of the API server undone": {
			[]edit{insertAfter(c, fromTemplate, "\ttemplate.Spec.Containers = nil\n")}, []string{"write-without-change deployments.apps default/"},
		},
		"Deployment without an owner": {
			[]edit{insertBefore(c, "\t\t"+ownedBy, "\t\tif kind == \"Deployment\" {\n\t\t\treturn nil\n\t\t}\n"), {c, isOwned, "if owned.GetUID() == \"none\" {"}}, []string{"left-behind deployment default/"},
		},
		"time in a condition": {
			[]edit{{c, availableMessage, "\tmessage := time.Now().UTC().Format(time.RFC3339Nano)\n"}}, []string{"changing-status", "unsettled"},
		},
	}
}

// memcachedFaults are the faults of the memcached operator.
func memcachedFaults() map[string]fault {
	const c = memcachedController
	finalizer := marker("groups=cache.example.com,resources=memcacheds,verbs=update")
	faults := deploymentFaults(c)
	for name, f := range map[string]fault{
		"no permission for the status": {
			[]edit{{c, marker("groups=cache.example.com,resources=memcacheds/status,verbs=update"), ""}}, []string{"forbidden-request"},
		},
		"no permission for a Secret": {
			[]edit{insertBefore(c, memcachedReconciled, "\t_ = r.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: obj.Namespace, Name: \"one\"}})\n")},
			[]string{"forbidden-request"},
		},
		"panic": {
			[]edit{insertBefore(c, memcachedReconciled, "\tvar seen map[string]bool\n\tseen[obj.Name] = true\n")}, []string{"panic"},
		},
		"administrator of the cluster": {
			[]edit{{managerRole, "  name: manager-role\n", "  name: cluster-admin\n"}}, []string{"wildcard-permission ClusterRole cluster-admin"},
		},
		"update without a comparison": {
			[]edit{insertBefore(c, written, "\tif kind == \"Deployment\" {\n\t\tif err := r.Update(ctx, owned); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n")},
			[]string{"write-without-change deployments.apps default/memcached-sample"},
		},
		"time in each pass": {
			[]edit{
				insertBefore(c, lastMarker, finalizer),
				insertBefore(c, memcachedReconciled, "\tobj.Annotations = map[string]string{\"checked\": time.Now().Format(time.RFC3339Nano)}\n"+returned("r.Update(ctx, obj)")),
			},
			[]string{"changing-status memcacheds.cache.example.com default/memcached-sample", "unsettled"},
		},
		"heartbeat in an object that nobody owns": {
			[]edit{
				insertBefore(c, lastMarker, marker(configMapMarker)),
				insertBefore(c, memcachedReconciled, "\tbeat := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: obj.Namespace, Name: \"beat\"}, Data: map[string]string{\"at\": time.Now().String()}}\n"+
					"\tif err := r.Create(ctx, beat); apierrors.IsAlreadyExists(err) {\n\t\t_ = r.Update(ctx, beat)\n\t}\n"),
				{c, lastReturn, laterAgain},
			},
			[]string{"write-at-rest configmaps default/beat", "left-behind configmap default/beat"},
		},
		"status written in each pass": {
			[]edit{{c, sameStatus, "\tif false && equality.Semantic.DeepEqual(before, &obj.Status) {\n"}, {c, lastReturn, laterAgain}},
			[]string{"write-at-rest " + memcachedStatus, "write-without-change " + memcachedStatus},
		},
		"list without a cache": {
			[]edit{
				insertAfter(c, "import (\n", "\t\"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured\"\n"),
				insertBefore(c, memcachedReconciled, "\tpods := &unstructured.UnstructuredList{}\n\tpods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(\"PodList\"))\n"+returned("r.List(ctx, pods)")),
			},
			[]string{"uncached-list pods"},
		},
		"finalizer that stays": {
			[]edit{
				insertBefore(c, lastMarker, finalizer),
				insertBefore(c, memcachedReconciled, "\tif controllerutil.AddFinalizer(obj, \"example.com/stays\") {\n\t"+returned("r.Update(ctx, obj)")+"\t}\n"),
			},
			[]string{"left-behind memcached default/memcached-sample"},
		},
		"sample that a webhook denies": {
			[]edit{{"config/samples/cache_v1alpha1_memcached.yaml", "  size: 1\n", "  size: 1\n  memoryMegabytes: 4096\n"}}, []string{"refused-resource memcached default/memcached-sample"},
		},
		"sample that the CRD denies": {
			[]edit{{"config/samples/cache_v1alpha1_memcached.yaml", "  size: 1\n", "  size: -1\n"}}, []string{"refused-resource memcached default/memcached-sample"},
		},
	} {
		faults[name] = f
	}
	all := fault{}
	for _, name := range []string{"Deployment that is only created", "Event for each of many", "conflict that is ignored", "error instead of a condition"} {
		all.edits, all.want = append(all.edits, faults[name].edits...), append(all.want, faults[name].want...)
	}
	faults["several"] = all
	return faults
}
