package bundle

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// leftOut is the note about an object that OLM does not take.
func (c *collection) leftOut(o manifest.Object) Note {
	n := Note{Position: o.Position, Subject: o.String(), Dropped: true}
	switch kind := o.Group() + "/" + o.Kind(); {
	case kind == "/Namespace":
		n.Reason = "is left out: OLM installs the operator into a namespace that its user chooses"
		n.Advice = "to propose one, set the annotation operatorframework.io/suggested-namespace in the base CSV"
		n.Dropped = !c.holdsOperator(o.Name())
	case certManager(o):
		n.Reason = "is left out: bundles bring no cert-manager objects, OLM makes the serving certificates of webhooks"
		n.Advice = "nothing is to be done for webhooks; let the operator create it if it is for something else"
		n.Dropped = !c.replaced[o.String()]
	case kind == "apps/StatefulSet", kind == "apps/DaemonSet", kind == "apps/ReplicaSet", kind == "batch/Job", kind == "batch/CronJob", kind == "/Pod":
		n.Reason = "is left out: OLM runs Deployments only"
		n.Advice = "make a Deployment of it, or let the operator create it"
	case kind == "apiregistration.k8s.io/APIService":
		n.Reason = "is left out: OLM makes APIServices from the CSV"
		n.Advice = "describe it in spec.apiservicedefinitions.owned of the base CSV"
	case o.Group() == groupOLM:
		n.Reason = "is left out: it belongs to the installation of a bundle, not into the bundle"
		n.Advice = "apply it to the cluster instead"
	default:
		n.Reason = "is left out: OLM takes no " + o.Kind() + " in a bundle"
		n.Advice = "let the operator create it, or have it applied apart from the bundle; if it is a sample, add its CRD to the input"
	}
	return n
}

// holdsOperator tells whether a namespace is one that the input puts a Deployment into.
func (c *collection) holdsOperator(namespace string) bool {
	return slices.ContainsFunc(c.deployments, func(d read[appsv1.Deployment]) bool { return d.Namespace() == namespace })
}

// noteSecret warns of a Secret that everybody can read who can pull the bundle.
func (c *collection) noteSecret(o manifest.Object) {
	if o.Kind() != kindSecret || o.Group() != "" || (o.Fields["data"] == nil && o.Fields["stringData"] == nil) {
		return
	}
	c.note(Note{Position: o.Position, Subject: o.String(),
		Reason: "goes into the bundle with its content, which everybody reads who can pull the bundle's image",
		Advice: "let the operator or the user make it instead"})
}
