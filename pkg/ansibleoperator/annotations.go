package ansibleoperator

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/customresource"
)

const annotationPrefix = "ansible.sdk.operatorframework.io/"

// The annotations of a custom resource that change how it is reconciled. Their names are operator-sdk's.
const (
	// AnnotationReconcilePeriod is the time between two runs without changes, such as "5m". It takes precedence over WithReconcilePeriod.
	AnnotationReconcilePeriod = annotationPrefix + "reconcile-period"
	// AnnotationMaxRunnerArtifacts is the number of runs whose artifacts are kept, "0" for all. It takes precedence over
	// WithMaxRunnerArtifacts.
	AnnotationMaxRunnerArtifacts = annotationPrefix + "max-runner-artifacts"
	// AnnotationVerbosity is the number of -v options. It takes precedence over WithVerbosity.
	AnnotationVerbosity = annotationPrefix + "verbosity"
	// AnnotationRetries is how often a failed run is repeated, "-1" for no limit. It takes precedence over WithRetries. It does not exist in
	// operator-sdk.
	AnnotationRetries = annotationPrefix + "retries"
	// AnnotationPaused keeps the operator from starting runs while it is "true". It does not exist in operator-sdk.
	AnnotationPaused = annotationPrefix + "paused"
	// AnnotationReconcileRequestedAt requests a run with each new value, such as a time. status.lastHandledReconcileAt is the last value for
	// which there was a run. It does not exist in operator-sdk.
	AnnotationReconcileRequestedAt = annotationPrefix + "reconcile-requested-at"
	// AnnotationOperator is written together with the finalizer. It names the operator that has taken over the resource, and its selector.
	AnnotationOperator = annotationPrefix + "operator"
	// AnnotationTargetNamespace is written before the first run for a cluster-scoped resource with WithTargetNamespace. It is that namespace.
	AnnotationTargetNamespace = annotationPrefix + "target-namespace"
)

// areSettingsChanged reports whether an annotation that changes how a resource is reconciled differs.
func areSettingsChanged(before, after metav1.Object) bool {
	a, b := before.GetAnnotations(), after.GetAnnotations()
	for _, key := range []string{
		AnnotationReconcilePeriod, AnnotationMaxRunnerArtifacts, AnnotationVerbosity, AnnotationRetries, AnnotationPaused, AnnotationReconcileRequestedAt,
	} {
		if a[key] != b[key] {
			return true
		}
	}
	return false
}

// settings apply to the runs of one custom resource.
type settings struct {
	period time.Duration
	// maxArtifacts is negative if all are kept.
	maxArtifacts int
	verbosity    int
	// retries is -1 if there is no limit.
	retries int
}

// readSettings parses the annotations of obj. Settings whose annotation is missing or invalid have the values of the reconciler; the
// error names all invalid ones.
func (r *Reconciler) readSettings(obj metav1.Object) (settings, error) {
	s := settings{r.kind.Period, r.maxArtifacts, r.verbosity, r.retries}
	number := func(key string, into *int, least, most int) error {
		return customresource.ReadAnnotation(obj, key, into, func(text string) (int, error) { return customresource.ParseNumber(text, least, most) })
	}
	err := errors.Join(customresource.ReadPeriod(obj, AnnotationReconcilePeriod, &s.period),
		number(AnnotationMaxRunnerArtifacts, &s.maxArtifacts, 0, 1<<20), number(AnnotationVerbosity, &s.verbosity, 0, MaxVerbosity),
		number(AnnotationRetries, &s.retries, -1, 1<<20))
	if s.maxArtifacts == 0 {
		s.maxArtifacts = -1
	}
	_, paused := customresource.IsPaused(obj, AnnotationPaused)
	return s, errors.Join(err, paused)
}
