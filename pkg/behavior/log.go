package behavior

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
)

// A LoggedError is an error in the log of the operator.
type LoggedError struct {
	Time time.Time
	// Object is the object that was reconciled, if it is known, Message the text of the line, and Cause the error.
	Object, Message, Cause string
}

// reconcilerError is the message with which controller-runtime logs the error that Reconcile returns.
const reconcilerError = "Reconciler error"

// isPanic reports whether a goroutine has panicked. controller-runtime recovers, and logs it as the error of the pass.
func (e LoggedError) isPanic() bool {
	return e.Message == "Observed a panic" || strings.HasPrefix(e.Cause, "panic: ")
}

// panics finds passes that end with a panic, each cause once.
func (o *Observation) panics() (findings diag.Findings) {
	logged, causes := grouped(o.Logged, func(e LoggedError) string {
		if !e.isPanic() {
			return ""
		}
		return strings.TrimSuffix(strings.TrimPrefix(e.Cause, "panic: "), " [recovered]")
	})
	for _, cause := range causes {
		problem := "the operator panics: " + cause
		if n := len(logged[cause]); n > 1 {
			problem += ", in " + diag.Count(n, "line") + " of its log"
		}
		findings = append(findings, diag.Finding{Severity: diag.Error, Rule: RulePanic, Problem: problem, Fix: "'operon run local --logs full' prints the stack"})
	}
	return findings
}

// loggedErrors finds errors in the log that no other finding explains, each message once for each object.
func (o *Observation) loggedErrors() (findings diag.Findings) {
	logged, keys := grouped(withoutReturned(o.Logged), func(e LoggedError) string {
		if e.isPanic() || isRetried(e.Cause) || isOfConnection(e.Cause) || !o.isUnexplained(e) {
			return ""
		}
		return e.Object + " " + e.Message
	})
	for _, key := range keys {
		errors := logged[key]
		problem := "the operator logs an error: "
		if n := len(errors); n > 1 {
			problem = "the operator logs " + diag.Count(n, "error") + ", the first: "
		}
		findings = append(findings, diag.Finding{
			Severity: diag.Warning, Rule: RuleLog, Object: errors[0].Object, Problem: problem + diag.Escape(errors[0].String()),
			Fix:     "wait for what is missing without an error, and report what a user must do in a condition",
			Related: []diag.Finding{{Time: errors[0].Time, Problem: "in the step " + o.stepAt(errors[0].Time, "").Name}},
		})
	}
	return findings
}

// withoutReturned returns errors without those that Reconcile returned after the operator had logged them itself.
func withoutReturned(logged []LoggedError) (remaining []LoggedError) {
	causes := map[string]string{} // of the last error that the operator has logged itself, by object
	for _, e := range logged {
		if e.Message != reconcilerError {
			causes[e.Object] = e.Cause
			remaining = append(remaining, e)
			continue
		}
		if cause := causes[e.Object]; cause == "" || !strings.Contains(e.Cause, cause) {
			remaining = append(remaining, e)
		}
		delete(causes, e.Object)
	}
	return remaining
}

// String returns the message and the error.
func (e LoggedError) String() string {
	if e.Cause == "" {
		return e.Message
	}
	return e.Message + ": " + e.Cause
}

// isRetried reports whether an error is a conflict, after which the pass is repeated. RuleConflict finds where it isn't.
func isRetried(cause string) bool {
	return strings.Contains(cause, "the object has been modified") || strings.Contains(cause, "Apply failed with ")
}

// isOfConnection reports whether an error is about a connection to a pod or another machine. Here, nothing runs in pods.
func isOfConnection(cause string) bool { return strings.Contains(cause, "dial tcp") }

// isUnexplained reports whether no other finding and nothing that was done by hand explains an error. What happens in a step that doesn't
// settle, or whose requests are denied, can follow from that.
func (o *Observation) isUnexplained(e LoggedError) bool {
	step := o.stepAt(e.Time, "")
	if step == nil || step.Unsettled != nil || step.ByHand && isOfDeletion(e.String()) || strings.Contains(e.String(), "because it is being terminated") {
		return false
	}
	return !slices.ContainsFunc(o.Requests, func(r gateway.Record) bool {
		return r.ServerCode == http.StatusForbidden && step.contains(r.Start)
	})
}

// isOfDeletion reports whether an error is about an object that was deleted, or made again, in the meantime.
func isOfDeletion(text string) bool {
	return slices.ContainsFunc([]string{"not found", "already exists", "being deleted", "Precondition failed"}, func(part string) bool {
		return strings.Contains(text, part)
	})
}
