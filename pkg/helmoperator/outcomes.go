package helmoperator

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// emitDeployed emits an event about an installation or upgrade.
func (p *pass) emitDeployed(reason string, plan release.Plan, deployed *release.Deployed) {
	message := fmt.Sprintf("Installed revision %d of the release", deployed.Revision)
	if plan.Action == release.Upgrade {
		message = fmt.Sprintf("Upgraded the release to revision %d: %s", deployed.Revision, p.secrets.Redact(plan.Reason))
	}
	p.emit(p.obj, corev1.EventTypeNormal, reason, message)
}

// emitUninstalled emits an event about a removal. The error is one of a hook, which did not prevent it.
func (r *Reconciler) emitUninstalled(obj *unstructured.Unstructured, removal *release.Removal, hookError error) {
	kind, message := corev1.EventTypeNormal, "Uninstalled the release"
	if len(removal.Kept) > 0 {
		message += "; kept " + strings.Join(names(removal.Kept), ", ")
	}
	if hookError != nil {
		var secrets redactor
		secrets.AddValues(obj.Object["spec"])
		kind, message = corev1.EventTypeWarning, message+"; a hook failed: "+secrets.RedactError(hookError).Error()
	}
	r.emit(obj, kind, ReasonUninstallSuccessful, message)
}

// emitFailure emits events about a failed pass, unless the status of obj says that the same has failed before. The error must not
// contain secrets.
func (r *Reconciler) emitFailure(obj *unstructured.Unstructured, failure condition, err error) {
	if isRepeated(obj, failure) {
		return
	}
	r.emit(obj, corev1.EventTypeWarning, failure.reason, failure.message)
	var rolledBack *release.RolledBackError
	if errors.As(err, &rolledBack) {
		r.emit(obj, corev1.EventTypeNormal, EventRolledBack, fmt.Sprintf("Rolled the release back to revision %d", rolledBack.Revision))
	}
}

// isRepeated reports whether the status of obj has a failure already, for the same generation. Numbers and generated names, which
// each attempt can have other ones of, don't count.
func isRepeated(obj *unstructured.Unstructured, failure condition) bool {
	old := readCondition(obj, failure.kind)
	return old.status == metav1.ConditionTrue && old.reason == failure.reason &&
		customresource.ReadCondition(obj, failure.kind)["observedGeneration"] == obj.GetGeneration() &&
		withoutNumbers(old.message) == withoutNumbers(customresource.Truncate(failure.message, maxMessage))
}

// withoutNumbers replaces words that contain digits.
func withoutNumbers(text string) string {
	var b strings.Builder
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for len(text) > 0 {
		end := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) })
		if end < 0 {
			end = len(text)
		}
		word := text[:end]
		if strings.ContainsFunc(word, unicode.IsDigit) {
			word = "#"
		}
		b.WriteString(word)
		if text = text[end:]; text != "" {
			next := strings.IndexFunc(text, isWord)
			if next < 0 {
				next = len(text)
			}
			b.WriteString(text[:next])
			text = text[next:]
		}
	}
	return b.String()
}

// describeCRDs sets the condition about CRDs that were left as they are, or that could not be updated, which is the error then.
func (p *pass) describeCRDs(reports []release.CRDReport, err error) {
	var problems []string
	for _, report := range reports {
		problems = append(problems, report.String())
	}
	var refused *release.CRDError
	if errors.As(err, &refused) {
		problems = append(problems, refused.Error())
	}
	if len(problems) == 0 {
		if err == nil { // otherwise the CRDs may not have been compared
			p.change.remove(ConditionCRDsUpToDate)
		}
		return
	}
	message := p.secrets.Redact(strings.Join(problems, "\n"))
	if old := readCondition(p.obj, ConditionCRDsUpToDate); old.message != customresource.Truncate(message, maxMessage) && refused == nil {
		p.emit(p.obj, corev1.EventTypeWarning, EventCRDsDiffer, message)
	}
	p.change.set(condition{ConditionCRDsUpToDate, metav1.ConditionFalse, ReasonCRDsDiffer, message})
}
