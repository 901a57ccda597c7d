package release

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The annotations of a CRD that was updated to the one in a chart. They keep two kinds, or two operators, whose charts have different
// versions of a CRD from overwriting each other's.
const (
	// CRDOwnerAnnotation is the kind of the custom resources that have the chart, such as Web.example.com.
	CRDOwnerAnnotation = "helm.sdk.operatorframework.io/crd-owner"
	// CRDVersionAnnotation is the version of the chart.
	CRDVersionAnnotation = "helm.sdk.operatorframework.io/crd-chart-version"
	// CRDDigestAnnotation identifies the content of the CRD in the chart.
	CRDDigestAnnotation = "helm.sdk.operatorframework.io/crd-digest"
)

var crdAnnotations = []string{CRDOwnerAnnotation, CRDVersionAnnotation, CRDDigestAnnotation}

// marks returns the annotations of a CRD of the chart.
func (r *Release) marks(crd chartCRD) map[string]string {
	return map[string]string{
		CRDOwnerAnnotation: r.owner.gvk.GroupKind().String(), CRDVersionAnnotation: versionOf(r.options.Chart), CRDDigestAnnotation: crd.digest,
	}
}

// foreignCRD returns why a CRD in the cluster is left as it is, or "".
func (r *Release) foreignCRD(crd chartCRD, live *unstructured.Unstructured) string {
	if manager := managerOf(live); manager != "" {
		return fmt.Sprintf("differs from the chart's, but belongs to %s; update it there, or set crds: skip in watches.yaml", manager)
	}
	annotations, own := live.GetAnnotations(), r.marks(crd)
	owner, digest := annotations[CRDOwnerAnnotation], annotations[CRDDigestAnnotation]
	switch version := annotations[CRDVersionAnnotation]; {
	case owner == "" || digest == crd.digest:
		return "" // changed by others, or never updated
	case owner != own[CRDOwnerAnnotation]:
		return fmt.Sprintf("differs from the chart's, but comes from the chart of %s; use the same CRD in both charts, or set crds: skip for one of the "+
			"kinds in watches.yaml (to hand the CRD over, remove its annotation %s)", owner, CRDOwnerAnnotation)
	case isNewer(version, own[CRDVersionAnnotation]):
		return fmt.Sprintf("comes from the newer version %s of the chart, and is not replaced by the one of version %s (to replace it anyway, remove its "+
			"annotation %s)", version, own[CRDVersionAnnotation], CRDOwnerAnnotation)
	case r.factory.crds.lastWritten(crd.name) == crd.digest:
		return fmt.Sprintf("was replaced by another operator of %s, whose chart has another version of it; use one chart, or set crds: skip in the "+
			"watches.yaml of one of the two", owner)
	}
	return ""
}

// isNewer reports whether a version is newer than another one. Versions that cannot be compared are not.
func isNewer(version, than string) bool {
	a, err := semver.NewVersion(version)
	if err != nil {
		return false
	}
	b, err := semver.NewVersion(than)
	return err == nil && a.GreaterThan(b)
}

// managerOf returns what manages a CRD by its metadata, or "".
func managerOf(live metav1.Object) string {
	labels, annotations := live.GetLabels(), live.GetAnnotations()
	hasLabel := func(prefix string) bool {
		for label := range labels {
			if strings.HasPrefix(label, prefix) {
				return true
			}
		}
		return false
	}
	// A CRD that Helm only installed from a crds directory has none of these.
	release := annotations[namespaceAnnotation] + "/" + annotations[releaseAnnotation]
	controller := metav1.GetControllerOfNoCopy(live)
	switch {
	case annotations[releaseAnnotation] != "" && labels[managedByLabel] == managedByHelm:
		return "the Helm release " + release
	case labels["olm.managed"] == "true", hasLabel("operators.coreos.com/"), hasLabel("olm.operatorframework.io/"):
		return "an operator that OLM installed"
	case hasLabel("kustomize.toolkit.fluxcd.io/"), hasLabel("helm.toolkit.fluxcd.io/"):
		return "Flux"
	case annotations["argocd.argoproj.io/tracking-id"] != "":
		return "Argo CD"
	case labels["addonmanager.kubernetes.io/mode"] != "":
		return "the add-on manager of the cluster"
	case controller != nil:
		return controller.Kind + "/" + controller.Name
	}
	return ""
}

// lostVersions returns the versions in which objects are stored and that a CRD does not have.
func lostVersions(live, wanted *unstructured.Unstructured) []string {
	stored, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
	versions, _, _ := unstructured.NestedSlice(wanted.Object, "spec", "versions")
	return slices.DeleteFunc(stored, func(name string) bool {
		return slices.ContainsFunc(versions, func(version any) bool {
			fields, ok := version.(map[string]any)
			return ok && fields["name"] == name
		})
	})
}
