package bundle

import (
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	// envWatchNamespace is where operators of operator-sdk read the namespaces to watch from.
	envWatchNamespace = "WATCH_NAMESPACE"
	// fieldTargetNamespaces is where OLM writes the namespaces of the OperatorGroup.
	fieldTargetNamespaces = "metadata.annotations['olm.targetNamespaces']"
)

// accountOf is the account that the pods of a deployment run under. serviceAccount is the old name of
// serviceAccountName, which Kubernetes still honours.
func accountOf(d read[appsv1.Deployment]) string {
	spec := d.value.Spec.Template.Spec
	for _, name := range []string{spec.ServiceAccountName, spec.DeprecatedServiceAccount} {
		if name != "" {
			return name
		}
	}
	return defaultAccount
}

// applyDeployments writes the deployments into the install strategy, in the order of the input.
func (c *collection) applyDeployments(strategy *v1alpha1.StrategyDetailsDeployment) {
	specs := []v1alpha1.StrategyDeploymentSpec{}
	for _, d := range c.deployments {
		if len(d.value.Annotations) > 0 {
			c.note(Note{
				Position: d.Locate("metadata", "annotations"), Subject: d.String(), Dropped: true,
				Reason: "has annotations of its own; a CSV has no place for them",
				Advice: "put what the pods need into spec.template.metadata.annotations",
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

// watchTargets lets WATCH_NAMESPACE follow the OperatorGroup.
func watchTargets(env []corev1.EnvVar) {
	for i := range env {
		if env[i].Name == envWatchNamespace {
			env[i] = corev1.EnvVar{Name: envWatchNamespace, ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: fieldTargetNamespaces},
			}}
		}
	}
}
