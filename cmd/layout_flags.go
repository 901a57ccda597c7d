package cmd

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
)

// The problems of flags of another layout.
const (
	onlyGo      = "is only valid in Go projects"
	onlyHelm    = "is only valid in Helm projects"
	onlyAnsible = "is only valid in Ansible projects"
	withoutGo   = "is only valid in Helm and Ansible projects"
)

// layoutTerms are the words of a layout without Go code in reasons.
type layoutTerms struct{ project, operator, kind, kinds, objects string }

// termsOf returns the words of a technology: Helm or Ansible.
func termsOf(technology string) layoutTerms {
	if technology == "Ansible" {
		return layoutTerms{
			"an Ansible project", "an Ansible operator", "a kind with a role or playbook", "the kinds of an Ansible project",
			"the objects of a kind are created by its role or playbook",
		}
	}
	return layoutTerms{
		"a Helm project", "a Helm operator", "a kind with a chart", "the kinds of charts", "the objects of a kind with a chart come from the chart",
	}
}

// goFlags returns the flags of Go projects, with the reason why those of a technology do not have them.
func goFlags(technology string) map[string]string {
	terms := termsOf(technology)
	module, code := terms.project+" has no Go module", terms.project+" has no Go code"
	flags := map[string]string{
		"repo": module, "fetch-deps": module, "skip-go-version-check": module,
		"license": code, "license-file": code, "owner": code, "no-verify": code,
	}
	maps.Copy(flags, typeFlags(technology))
	flags["namespaced"] = terms.operator + " watches the namespaces in WATCH_NAMESPACE, and its kinds are namespaced"
	return flags
}

// typeFlags returns the flags of create api for kinds with Go types, with the reason why kinds of a technology do not have them.
func typeFlags(technology string) map[string]string {
	terms := termsOf(technology)
	code, objects := terms.kind+" has no Go code", terms.objects
	return map[string]string{
		"namespaced": terms.kinds + " are namespaced",
		"resource":   objects, "controller": objects, "controller-name": objects, "make": code, "manifests": code, "ssa": code,
		"external-api-path": code, "external-api-domain": code, "external-api-module": code,
		"image": objects, "image-container-command": objects, "image-container-port": objects, "run-as-user": objects,
	}
}

// chartFlags returns the flags that select the chart of a kind, with the reason why other projects do not have them.
func chartFlags(technology string) map[string]string {
	chart := "'create api' adds kinds with charts to a Go project"
	if technology == "Ansible" {
		chart = "the kinds of an Ansible project have roles or playbooks; to install a chart, call kubernetes.core.helm in one"
	}
	return map[string]string{
		"helm-chart": chart, "helm-chart-repo": chart, "helm-chart-version": chart, "open-schema": chart, "full-sample": chart, "related-images": chart,
	}
}

// runFlags returns the flags that write a role or a playbook, with the reason why projects of a technology do not have them.
func runFlags(technology string) map[string]string {
	reason := "only Ansible operators run roles and playbooks; this is a " + technology + " project"
	return map[string]string{"generate-role": reason, "generate-playbook": reason}
}

// kindFlags returns the flags of init that name the first kind, with the reason why Go projects do not have them.
func kindFlags() map[string]string {
	flags := map[string]string{"crd-version": "a CRD has version v1 in a Go project"}
	for _, name := range []string{"group", "version", "kind"} {
		flags[name] = "'create api' adds kinds to a Go project"
	}
	return flags
}

// refuseInit returns findings for the flags of init that are not those of the technology of the project, and reports whether flags of
// a first kind are given.
func refuseInit(c *cobra.Command, technology string) (findings diag.Findings, first bool) {
	switch technology {
	case "Helm":
		findings = slices.Concat(refuseFlags(c, goFlags(technology), onlyGo), refuseFlags(c, runFlags(technology), onlyAnsible))
		return findings, anyGiven(c, kindFlags()) || anyGiven(c, chartFlags(technology))
	case "Ansible":
		findings = slices.Concat(refuseFlags(c, goFlags(technology), onlyGo), refuseFlags(c, chartFlags(technology), onlyHelm))
		return findings, anyGiven(c, kindFlags()) || anyGiven(c, runFlags(technology))
	}
	return slices.Concat(refuseFlags(c, chartFlags(technology), onlyHelm), refuseFlags(c, runFlags(technology), onlyAnsible),
		refuseFlags(c, kindFlags(), withoutGo)), false
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

// addRun adds the flags that write the role or the playbook of a kind.
func addRun(c *cobra.Command, o *action.RunOptions) {
	f := c.Flags()
	f.BoolVar(&o.Role, "generate-role", false, "write a role for the kind of an Ansible project, in roles/<kind>")
	f.BoolVar(&o.Playbook, "generate-playbook", false, "write a playbook for the kind of an Ansible project, in playbooks; with --generate-role, it runs the role")
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
