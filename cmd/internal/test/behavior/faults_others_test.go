//go:build unix

package behavior

const (
	cookController  = "internal/controller/cook_controller.go"
	berthController = "internal/controller/harbor/berth_controller.go"
	flagController  = "internal/controller/registry/flag_controller.go"
	todo            = "\t// TODO: reconcile the "
	roleFile        = "config/rbac/role.yaml"
	blockEnd        = "# +operon:rules:end\n"
)

// ssaFaults are the faults of the operator that uses server-side apply.
func ssaFaults() map[string]fault {
	const c = cookController
	faults := deploymentFaults(c)
	faults["no permission to apply the status"] = fault{
		[]edit{{c, marker("groups=crew.example.com,resources=cooks/status,verbs=patch"), marker("groups=crew.example.com,resources=cooks/status,verbs=update")}},
		[]string{"forbidden-request"},
	}
	faults["status applied in each pass"] = fault{
		[]edit{{c, sameStatus, "\tif false && equality.Semantic.DeepEqual(before, &obj.Status) {\n"}, {c, lastReturn, laterAgain}},
		[]string{"write-at-rest cooks.crew.example.com/status default/cook-sample", "write-without-change cooks.crew.example.com/status default/cook-sample"},
	}
	faults["object in another namespace"] = fault{
		[]edit{
			insertBefore(c, lastMarker, marker(configMapMarker)),
			insertBefore(c, memcachedReconciled, "\t_ = r.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: \"kube-public\", Name: obj.Name}})\n"),
		},
		[]string{"left-behind configmap kube-public/cook-sample"},
	}
	return faults
}

// multigroupFaults are the faults of the operator with several groups.
func multigroupFaults() map[string]fault {
	imports := insertAfter(berthController, "import (\n", "\tcorev1 \"k8s.io/api/core/v1\"\n")
	return map[string]fault{
		"no permission for the status": {
			[]edit{{flagController, marker("groups=registry.example.org,resources=flags/status,verbs=get;update;patch"), ""}}, []string{"forbidden-request"},
		},
		"all verbs": {
			[]edit{{berthController, "resources=berths,verbs=get;list;watch;create;update;patch;delete", "resources=berths,verbs=*"}},
			[]string{"wildcard-permission ClusterRole"},
		},
		"all groups": {
			[]edit{{berthController, "groups=harbor.example.org,resources=berths/status", "groups=*,resources=berths/status"}}, []string{"wildcard-permission ClusterRole"},
		},
		"status written in each pass": {
			[]edit{
				{berthController, "\tif !changed {\n", "\tif changed && obj.Name == \"\" {\n"},
				{berthController, "\treturn ctrl.Result{}, nil\n}\n\n// SetupWithManager", "\treturn ctrl.Result{RequeueAfter: 3 * time.Second}, nil\n}\n\n// SetupWithManager"},
			},
			[]string{"write-at-rest berths.harbor.example.org/status default/berth-sample"},
		},
		"time in each pass": {
			[]edit{insertBefore(berthController, todo, "\tobj.Annotations = map[string]string{\"checked\": time.Now().Format(time.RFC3339Nano)}\n"+returned("r.Update(ctx, obj)"))},
			[]string{"changing-status berths.harbor.example.org default/berth-sample", "unsettled"},
		},
		"finalizer of a cluster-scoped object that stays": {
			[]edit{insertBefore(flagController, todo, "\tif len(obj.Finalizers) == 0 {\n\t\tobj.Finalizers = []string{\"example.com/stays\"}\n\t"+returned("r.Update(ctx, obj)")+"\t}\n")},
			[]string{"left-behind flag flag-sample"},
		},
		"object that nobody owns": {
			[]edit{
				imports,
				insertBefore(berthController, "// Reconcile moves", marker(configMapMarker)+"\n"),
				insertBefore(berthController, todo, "\t_ = r.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: obj.Namespace, Name: \"berth\"}})\n"),
			},
			[]string{"left-behind configmap default/berth"},
		},
		"object that is only created": {
			[]edit{
				imports,
				insertBefore(berthController, "// Reconcile moves", marker(configMapMarker)+"\n"),
				insertBefore(berthController, todo, "\tmade := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: obj.Namespace, Name: \"berth\"}, Data: map[string]string{\"name\": obj.Name}}\n"+
					returned("ctrl.SetControllerReference(obj, made, r.Scheme)")+"\t_ = r.Create(ctx, made)\n"),
			},
			[]string{"uncorrected-drift configmap default/berth", "not-repaired configmap default/berth"},
		},
		"sample that the CRD denies": {
			[]edit{{"config/samples/fleet_v2_vessel.yaml", "  tonnage: 90\n", "  tonnage: heavy\n"}}, []string{"refused-resource vessel default/vessel-sample"},
		},
	}
}

// wildcardRule permits all verbs of a resource.
const wildcardRule = "- {apiGroups: [\"\"], resources: [configmaps], verbs: [\"*\"]}\n"

// shopFaults are the faults of the Helm operator.
func shopFaults() map[string]fault {
	const settings, settingsLabels = "helm-charts/shop/templates/configmap.yaml", "  labels:\n"
	return map[string]fault{
		"all verbs": {
			[]edit{insertAfter(roleFile, blockEnd, wildcardRule)}, []string{"wildcard-permission ClusterRole"},
		},
		"object that stays": {
			[]edit{insertBefore(settings, settingsLabels, "  annotations:\n    helm.sh/resource-policy: keep\n")}, []string{"left-behind configmap default/shop-sample-settings"},
		},
		"finalizer that stays": {
			[]edit{insertBefore(settings, settingsLabels, "  finalizers: [example.com/stays]\n")}, []string{"left-behind configmap default/shop-sample-settings"},
		},
		"no watch of the objects": {
			[]edit{insertAfter("watches.yaml", "  chart: helm-charts/shop\n", "  watchDependentResources: false\n")}, []string{"not-repaired configmap default/shop-sample-settings", "uncorrected-drift configmap default/shop-sample-settings"},
		},
		"drift that is ignored": {
			[]edit{insertAfter("watches.yaml", "  chart: helm-charts/shop\n", "  driftDetection:\n    mode: warn\n")}, []string{"uncorrected-drift configmap default/shop-sample-settings"},
		},
		"sample that the CRD denies": {
			[]edit{{"config/samples/shops_v1alpha1_shop.yaml", "spec: {}\n", "spec: {replicaCount: many}\n"}}, []string{"refused-resource shop default/shop-sample"},
		},
	}
}

// siteFaults are the faults of the Ansible operator.
func siteFaults() map[string]fault {
	const tasks = "roles/site/tasks/main.yml"
	return map[string]fault{
		"all verbs": {
			[]edit{insertAfter(roleFile, "  "+blockEnd, "  "+wildcardRule)}, []string{"wildcard-permission ClusterRole"},
		},
		"finalizer that stays": {
			[]edit{{tasks, "        name: \"{{ ansible_operator_meta.name }}\"\n", "        name: \"{{ ansible_operator_meta.name }}\"\n        finalizers: [example.com/stays]\n"}},
			[]string{"left-behind configmap default/site-sample"},
		},
		"no watch of the objects": {
			[]edit{insertAfter("watches.yaml", "  playbook: playbooks/site.yml\n", "  watchDependentResources: false\n")}, []string{"not-repaired configmap default/site-sample", "uncorrected-drift configmap default/site-sample"},
		},
		"sample that the CRD denies": {
			[]edit{{"config/samples/web_v1alpha1_site.yaml", "spec: {}\n", "spec: {replicas: many}\n"}}, []string{"refused-resource site default/site-sample"},
		},
	}
}
