package bundle

import (
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/operon-sdk/operon/pkg/diag"
)

const (
	// envWatchNamespace is the variable that lists the namespaces for the operator to watch.
	envWatchNamespace = "WATCH_NAMESPACE"
	// fieldTargetNamespaces is the field in which OLM sets the target namespaces of the OperatorGroup.
	fieldTargetNamespaces = "metadata.annotations['olm.targetNamespaces']"
)

// accountOf returns the service account of a Deployment's pods. Kubernetes still honors serviceAccount, the old name of
// serviceAccountName.
func accountOf(d decoded[appsv1.Deployment]) string {
	spec := d.value.Spec.Template.Spec
	for _, name := range []string{spec.ServiceAccountName, spec.DeprecatedServiceAccount} {
		if name != "" {
			return name
		}
	}
	return defaultAccount
}

// applyDeployments writes the Deployments into the install strategy in input order.
func (c *collection) applyDeployments(strategy *v1alpha1.StrategyDetailsDeployment) {
	specs := []v1alpha1.StrategyDeploymentSpec{}
	for _, d := range c.deployments {
		if len(d.value.Annotations) > 0 {
			c.note(diag.Finding{
				Position: d.Locate("metadata", "annotations"), Object: d.String(), Severity: diag.Warning,
				Problem: "has annotations of its own; a CSV has no place for them",
				Fix:     "put what the pods need into spec.template.metadata.annotations",
			})
		}
		spec := *d.value.Spec.DeepCopy()
		for i := range spec.Template.Spec.Containers {
			watchTargets(spec.Template.Spec.Containers[i].Env)
		}
		specs = append(specs, v1alpha1.StrategyDeploymentSpec{Name: d.Name(), Label: d.value.Labels, Spec: spec})
	}
	strategy.DeploymentSpecs = specs
}

// watchTargets sets WATCH_NAMESPACE to the target namespaces of the OperatorGroup.
func watchTargets(env []corev1.EnvVar) {
	for i := range env {
		if env[i].Name == envWatchNamespace {
			env[i] = corev1.EnvVar{Name: envWatchNamespace, ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: fieldTargetNamespaces},
			}}
		}
	}
}
