package cmd

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/diag"
)

// goFlags returns the flags of Go projects, with the reason why other projects do not have them.
func goFlags() map[string]string {
	const (
		module   = "a Helm project has no Go module"
		code     = "a Helm project has no Go code"
		packages = "the objects of a Helm project come from charts"
	)
	return map[string]string{
		"repo": module, "fetch-deps": module, "skip-go-version-check": module,
		"license": code, "license-file": code, "owner": code,
		"namespaced": "a Helm operator watches the namespaces in WATCH_NAMESPACE, and its kinds are namespaced",
		"resource":   packages, "controller": packages, "controller-name": packages, "make": code, "manifests": code, "ssa": code,
		"external-api-path": code, "external-api-domain": code, "external-api-module": code,
		"image": packages, "image-container-command": packages, "image-container-port": packages, "run-as-user": packages,
		"no-verify": code,
	}
}

// refuseFlags returns findings for the given flags that a project of another layout does not have.
func refuseFlags(c *cobra.Command, reasons map[string]string) diag.Findings {
	var findings diag.Findings
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if flag := c.Flags().Lookup(name); flag != nil && flag.Changed {
			findings.Add("--"+name, flag.Value.String(), "is only valid in Go projects: "+reasons[name])
		}
	}
	return findings
}
