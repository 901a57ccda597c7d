package scaffold

import (
	"fmt"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// missingMarker returns the error of a file without the marker above which a command must insert lines.
func missingMarker(filename, marker string, lines []string) error {
	sign := "#"
	if path.Ext(filename) == ".go" {
		sign = "//"
	}
	problem := fmt.Sprintf("the marker %s is missing; it belongs %s", marker, markerPlace(filename, marker))
	return diag.Explain(diag.Finding{Position: diag.Position{File: filename}, Problem: problem},
		fmt.Sprintf("  put this line back and run the command again:\n    %s +kubebuilder:scaffold:%s", sign, marker),
		"  or add by hand what would have been inserted there:\n    "+strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n    "))
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
