package helmoperator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// WithDriftDetection sets what happens when others change or delete objects of releases, and which fields are left to them. The
// default is release.DriftEnabled without rules. AnnotationDriftDetection takes precedence over the mode.
func WithDriftDetection(mode release.DriftMode, ignore ...release.IgnoreRule) Option {
	return func(r *Reconciler) error {
		var err error
		if r.drift, err = parseDriftMode(string(mode)); err != nil {
			return fmt.Errorf("drift detection %q: %w", mode, err)
		}
		if r.ignore, err = release.ParseIgnoreRules(ignore); err != nil {
			return fmt.Errorf("drift detection: %w", err)
		}
		return nil
	}
}

func driftModes() []string {
	return []string{string(release.DriftEnabled), string(release.DriftWarn), string(release.DriftDisabled)}
}

// parseDriftMode returns a mode. Empty is DriftEnabled.
func parseDriftMode(text string) (release.DriftMode, error) {
	if text == "" {
		return release.DriftEnabled, nil
	}
	if slices.Contains(driftModes(), text) {
		return release.DriftMode(text), nil
	}
	if near, ok := diag.Nearest(text, driftModes()); ok {
		return "", fmt.Errorf("must be enabled, warn or disabled; did you mean %q?", near)
	}
	return "", fmt.Errorf("must be enabled, warn or disabled")
}

// reportDrift logs and emits what was repaired, and sets the condition Drifted for what was left as it is.
func (p *pass) reportDrift(found []release.Repaired, log logr.Logger) {
	var repaired, reported []release.Repaired
	for _, object := range found {
		if object.Reported {
			reported = append(reported, object)
		} else {
			repaired = append(repaired, object)
		}
	}
	if len(repaired) > 0 {
		log.Info("repaired objects of the release", "objects", names(repaired))
		p.emitRepaired(p.obj, repaired)
		p.metrics.observeDrift(p.kind.GVK, driftRepaired, len(repaired))
	}
	if len(reported) == 0 {
		return
	}
	message := p.secrets.Redact("Changed by others and not repaired: " + strings.Join(describeDrift(reported), ", "))
	p.drifted = &condition{ConditionDrifted, metav1.ConditionTrue, ReasonDriftDetected, message}
	if readCondition(p.obj, ConditionDrifted).message != customresource.Truncate(message, maxMessage) {
		log.Info("objects of the release have drifted", "objects", names(reported))
		p.emit(p.obj, corev1.EventTypeWarning, EventDriftDetected, message)
		p.metrics.observeDrift(p.kind.GVK, driftReported, len(reported))
	}
}

// describeDrift returns objects with the fields that differ.
func describeDrift(drifted []release.Repaired) []string {
	descriptions := make([]string, 0, len(drifted))
	for _, object := range drifted {
		text := object.String()
		switch {
		case object.Created:
			text += " (is missing)"
		case len(object.Fields) > 0:
			fields := object.Fields[:min(len(object.Fields), maxNamed)]
			text += " (" + strings.Join(fields, ", ")
			if more := len(object.Fields) - len(fields); more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
			text += ")"
		}
		descriptions = append(descriptions, text)
	}
	slices.Sort(descriptions)
	if more := len(descriptions) - maxNamed; more > 0 {
		descriptions = append(descriptions[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return descriptions
}

// readDriftMode sets the mode to the one of the annotation of obj, if it has one.
func readDriftMode(obj metav1.Object, into *release.DriftMode) error {
	return customresource.ReadAnnotation(obj, AnnotationDriftDetection, into, parseDriftMode)
}
