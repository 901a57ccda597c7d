package cmd

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
)

// onlyGo is the problem of a flag of Go projects in a Helm project.
const onlyGo = "is only valid in Go projects"

// goFlags returns the flags of Go projects, with the reason why Helm projects do not have them.
func goFlags() map[string]string {
	const (
		module = "a Helm project has no Go module"
		code   = "a Helm project has no Go code"
	)
	flags := map[string]string{
		"repo": module, "fetch-deps": module, "skip-go-version-check": module,
		"license": code, "license-file": code, "owner": code, "no-verify": code,
	}
	maps.Copy(flags, typeFlags())
	flags["namespaced"] = "a Helm operator watches the namespaces in WATCH_NAMESPACE, and its kinds are namespaced"
	return flags
}

// typeFlags returns the flags of create api for kinds with Go types, with the reason why kinds with charts do not have them.
func typeFlags() map[string]string {
	const (
		code    = "a kind with a chart has no Go code"
		objects = "the objects of a kind with a chart come from the chart"
	)
	return map[string]string{
		"namespaced": "the kinds of charts are namespaced",
		"resource":   objects, "controller": objects, "controller-name": objects, "make": code, "manifests": code, "ssa": code,
		"external-api-path": code, "external-api-domain": code, "external-api-module": code,
		"image": objects, "image-container-command": objects, "image-container-port": objects, "run-as-user": objects,
	}
}

// chartFlags returns the flags that select the chart of a kind, with the reason why init of a Go project does not have them.
func chartFlags() map[string]string {
	const chart = "'create api' adds kinds with charts to a Go project"
	return map[string]string{
		"helm-chart": chart, "helm-chart-repo": chart, "helm-chart-version": chart, "open-schema": chart, "full-sample": chart, "related-images": chart,
		"crd-version": "a CRD has version v1 in a Go project",
	}
}

// helmInitFlags returns the flags of init that add a kind to a Helm project.
func helmInitFlags() map[string]string {
	flags := chartFlags()
	for _, name := range []string{"group", "version", "kind"} {
		flags[name] = "'create api' adds kinds to a Go project"
	}
	return flags
}

// refuseFlags returns findings for the given flags, which a command does not have for this layout or kind: "is only valid in Go
// projects", and the reason.
func refuseFlags(c *cobra.Command, reasons map[string]string, problem string) diag.Findings {
	var findings diag.Findings
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if flag := c.Flags().Lookup(name); flag != nil && flag.Changed {
			findings.Add("--"+name, flag.Value.String(), problem+": "+reasons[name])
		}
	}
	return findings
}

// anyGiven reports whether one of the flags is given.
func anyGiven(c *cobra.Command, flags map[string]string) bool {
	for name := range flags {
		if c.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// addChart adds the flags that select the chart of a kind.
func addChart(c *cobra.Command, o *action.ChartOptions) {
	f := c.Flags()
	f.StringVar(&o.Source, "helm-chart", "", "`chart` of the kind: directory, archive, URL, oci:// reference or repository/name (default: a starter chart)")
	f.StringVar(&o.Repo, "helm-chart-repo", "", "`URL` of the repository that contains --helm-chart")
	f.StringVar(&o.Version, "helm-chart-version", "", "`version` of the chart, or a constraint (default: the newest release)")
	f.BoolVar(&o.OpenSchema, "open-schema", false, "allow any values in the CRD of a chart, instead of those of the chart")
	f.BoolVar(&o.RelatedImages, "related-images", false, "set the images of the chart with RELATED_IMAGE_ variables of the manager")
	f.BoolVar(&o.FullSample, "full-sample", false, "set all default values of the chart in the sample")
	f.String("crd-version", "v1", "`version` of the CustomResourceDefinition")
	_ = f.MarkHidden("crd-version") // deprecated; the only error is a flag that does not exist
}

// checkCRDVersion validates --crd-version, which operator-sdk accepts.
func (a *app) checkCRDVersion(c *cobra.Command) diag.Findings {
	flag := c.Flags().Lookup("crd-version")
	switch version := flag.Value.String(); {
	case version == "v1":
	case version == "v1beta1":
		a.warn(diag.Finding{Problem: "--crd-version v1beta1: Kubernetes serves only v1, which is used"})
	default:
		return diag.Findings{{Field: "--crd-version", Value: version, Problem: "must be v1"}}
	}
	return nil
}
