package ansibleoperator

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const annotationPrefix = "ansible.sdk.operatorframework.io/"

// The annotations of a custom resource that change how it is reconciled. All are those of operator-sdk's ansible-operator.
const (
	// AnnotationReconcilePeriod is the time between two runs without changes, such as "5m". It has precedence over WithReconcilePeriod.
	AnnotationReconcilePeriod = annotationPrefix + "reconcile-period"
	// AnnotationMaxRunnerArtifacts is the number of runs whose artifacts are kept, "0" for all. It has precedence over
	// WithMaxRunnerArtifacts.
	AnnotationMaxRunnerArtifacts = annotationPrefix + "max-runner-artifacts"
	// AnnotationVerbosity is the number of -v options. It has precedence over WithVerbosity.
	AnnotationVerbosity = annotationPrefix + "verbosity"
)

// settings are those of the runs of one custom resource.
type settings struct {
	period time.Duration
	// maxArtifacts is negative if all are kept.
	maxArtifacts int
	verbosity    int
}

// readSettings parses the annotations of obj. Settings whose annotation is missing or invalid have the values of the reconciler; the
// error names all invalid ones.
func (r *Reconciler) readSettings(obj metav1.Object) (settings, error) {
	s := settings{r.period, r.maxArtifacts, r.verbosity}
	annotations := obj.GetAnnotations()
	var errs []error
	if text, ok := annotations[AnnotationReconcilePeriod]; ok {
		if period, err := time.ParseDuration(text); err != nil || period < 0 {
			errs = append(errs, fmt.Errorf("annotation %s %q: must be a duration that is not negative, such as 5m", AnnotationReconcilePeriod, text))
		} else {
			s.period = period
		}
	}
	for _, number := range []struct {
		key         string
		least, most int
		value       *int
	}{
		{AnnotationMaxRunnerArtifacts, 0, 1 << 20, &s.maxArtifacts},
		{AnnotationVerbosity, 0, MaxVerbosity, &s.verbosity},
	} {
		text, ok := annotations[number.key]
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(text); err != nil || n < number.least || n > number.most {
			errs = append(errs, fmt.Errorf("annotation %s %q: must be a number from %d to %d", number.key, text, number.least, number.most))
		} else {
			*number.value = n
		}
	}
	if s.maxArtifacts == 0 {
		s.maxArtifacts = -1
	}
	return s, errors.Join(errs...)
}
