package scaffold

import (
	"fmt"
	"path"
	"strings"
)

// MissingMarkerError reports a file without the marker above which a command must insert text.
type MissingMarkerError struct {
	// File is relative to the project's root.
	File string
	// Marker is the part after "+kubebuilder:scaffold:".
	Marker string
	// Text is the text to insert.
	Text string
	// Hint describes the place of the marker.
	Hint string
}

// Line returns the comment line of the marker.
func (e *MissingMarkerError) Line() string {
	sign := "#"
	if path.Ext(e.File) == ".go" {
		sign = "//"
	}
	return sign + " +kubebuilder:scaffold:" + e.Marker
}

func (e *MissingMarkerError) Error() string {
	text := strings.ReplaceAll(strings.TrimRight(e.Text, "\n"), "\n", "\n    ")
	return fmt.Sprintf("%s: the marker %s is missing; it belongs %s\n"+
		"  put this line back and run the command again:\n    %s\n"+
		"  or add by hand what would have been inserted there:\n    %s",
		e.File, e.Marker, e.Hint, e.Line(), text)
}

// markerPlace describes the place of a marker in a new file.
func markerPlace(filename, marker string) string {
	switch marker {
	case importsMarker:
		return "at the end of the import block"
	case "scheme":
		if strings.HasSuffix(filename, "_test.go") {
			return "in BeforeSuite, below the last AddToScheme"
		}
		return "at the end of the function init, below the last AddToScheme"
	case "builder":
		return "in the function main, below the set-up of the last controller and above the health checks"
	case "webhook":
		return "in BeforeSuite, below the set-up of the last webhook"
	case "crdkustomizeresource", "manifestskustomizesamples", "resources":
		return "at the end of the list resources"
	case "crdkustomizewebhookpatch":
		return "at the end of the list patches"
	case "crdkustomizecainjectionns":
		return "below targets of the replacement that reads .metadata.namespace of the serving certificate"
	case "crdkustomizecainjectionname":
		return "below targets of the replacement that reads .metadata.name of the serving certificate"
	case "env":
		return "at the end of the list env of the container manager"
	case "e2e-webhooks-checks":
		return "in the Describe block, below its last It"
	case "e2e-metrics-webhooks-readiness":
		return "in the test of the metrics endpoint, before the curl pod is created"
	case "e2e-tests":
		return "at the end of the Describe block"
	}
	if path.Ext(filename) == ".go" {
		return "in the block of code that the text below extends"
	}
	return "at the end of the list that the text below extends"
}
