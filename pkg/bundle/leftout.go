package bundle

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// unsupportedNote returns the note for an object that OLM does not accept.
func (c *collection) unsupportedNote(o manifest.Object) diag.Finding {
	n := diag.Finding{Position: o.Position, Object: o.String(), Severity: diag.Warning}
	switch kind := o.Group() + "/" + o.Kind(); {
	case kind == "/Namespace":
		n.Problem = "is left out: OLM installs the operator in a namespace that the user chooses"
		n.Fix = "to suggest one, set the annotation operatorframework.io/suggested-namespace in the base CSV"
		n.Severity = lossUnless(c.hasDeploymentIn(o.Name()))
	case isCertManager(o):
		n.Problem = "is left out: bundles cannot contain cert-manager objects, and OLM issues the serving certificates of webhooks"
		n.Fix = "no action is needed for webhooks; let the operator create it if it has another purpose"
		n.Severity = lossUnless(c.replaced[o.String()])
	case kind == "apps/StatefulSet", kind == "apps/DaemonSet", kind == "apps/ReplicaSet", kind == "batch/Job", kind == "batch/CronJob", kind == "/Pod":
		n.Problem = "is left out: OLM runs Deployments only"
		n.Fix = "convert it to a Deployment, or let the operator create it"
	case kind == "apiregistration.k8s.io/APIService":
		n.Problem = "is left out: OLM creates APIServices from the CSV"
		n.Fix = "describe it in spec.apiservicedefinitions.owned of the base CSV"
	case o.Group() == groupOLM:
		n.Problem = "is left out: it installs a bundle and is not part of one"
		n.Fix = "apply it to the cluster instead"
	default:
		n.Problem = "is left out: OLM does not accept the kind " + o.Kind() + " in a bundle"
		n.Fix = "let the operator create it, or apply it separately; if it is a sample, add its CRD to the input"
	}
	return n
}

func (c *collection) hasDeploymentIn(namespace string) bool {
	return slices.ContainsFunc(c.deployments, func(d decoded[appsv1.Deployment]) bool { return d.Namespace() == namespace })
}

// noteSecret notes that the content of a Secret can be read by everyone who can pull the bundle.
func (c *collection) noteSecret(o manifest.Object) {
	if o.Kind() != kindSecret || o.Group() != "" || (o.Fields["data"] == nil && o.Fields["stringData"] == nil) {
		return
	}
	c.note(diag.Finding{Position: o.Position, Object: o.String(),
		Problem: "is in the bundle with its content, which everyone who can pull the bundle image can read",
		Fix:     "let the operator or the user create it instead"})
}
