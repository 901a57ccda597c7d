package release

import (
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deployedFrom returns the public description of a revision, and whether it has objects of kinds that the cluster does not serve.
func (r *Release) deployedFrom(revision *releasev1.Release) (deployed *Deployed, unserved bool, err error) {
	parsed, err := parseManifest(revision.Manifest)
	if err != nil {
		return nil, false, r.errorf("read its manifest: %w", err)
	}
	deployed = &Deployed{Name: revision.Name, Revision: revision.Version, Manifest: revision.Manifest, Notes: revision.Info.Notes}
	for _, object := range parsed {
		described, served, err := r.describe(object.Unstructured)
		if err != nil {
			return nil, false, err
		}
		unserved = unserved || !served
		deployed.Objects = append(deployed.Objects, described)
	}
	return deployed, unserved, nil
}

// describe returns the public description of an object of a manifest, and whether the cluster serves its kind.
func (r *Release) describe(object *unstructured.Unstructured) (described Object, served bool, err error) {
	described = Object{GroupVersionKind: object.GroupVersionKind(), Name: object.GetName(), Keep: isKept(object)}
	info, err := r.info(object)
	if isUnserved(err) {
		return described, false, nil
	}
	if err != nil {
		return Object{}, false, err
	}
	described.Namespaced, described.Namespace = info.Namespaced(), info.Namespace
	return described, true, nil
}
