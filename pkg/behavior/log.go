package behavior

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A LoggedError is an error in the log of the operator.
type LoggedError struct {
	// Message is the text of the line, and Cause the error.
	Message, Cause string
}

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
		findings = append(findings, diag.Finding{Severity: diag.Error, Rule: RulePanic, Problem: problem, Fix: "'run local --logs full' prints the stack"})
	}
	return findings
}
