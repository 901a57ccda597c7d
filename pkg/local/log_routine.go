package local

import (
	"slices"
	"strings"
)

// routine are the beginnings of the messages with which controller-runtime reports each part of a manager that starts or stops. "Starting
// workers" isn't among them: without it, a controller doesn't work.
func routine() []string {
	return []string{
		"All workers finished", "Conversion webhook enabled", "Registering a mutating webhook", "Registering a validating webhook", "Registering webhook",
		"Serving metrics server", "Serving webhook server", "Shutdown signal received, waiting for all workers to finish", "Starting Controller",
		"Starting EventSource", "Starting certificate ", "Starting metrics server", "Starting webhook server", "Stopping and waiting for ",
		"Updated current TLS certificate", "Wait completed, proceeding to shutdown the manager", "skip registering a ", "starting server",
	}
}

// isRoutine reports whether an entry says only that a part of a manager starts or stops as it should.
func (e *entry) isRoutine() bool {
	return e.level == "INFO" && slices.ContainsFunc(routine(), func(start string) bool { return strings.HasPrefix(e.message, start) })
}
