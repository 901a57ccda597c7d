package release

import (
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deployedFrom returns the public description of a revision.
func (r *Release) deployedFrom(revision *releasev1.Release) (*Deployed, error) {
	parsed, err := parseManifest(revision.Manifest)
	if err != nil {
		return nil, r.errorf("read its manifest: %w", err)
	}
	deployed := &Deployed{Name: revision.Name, Revision: revision.Version, Manifest: revision.Manifest, Notes: revision.Info.Notes}
	for _, object := range parsed {
		described, err := r.describe(object.Unstructured)
		if err != nil {
			return nil, err
		}
		deployed.Objects = append(deployed.Objects, described)
	}
	return deployed, nil
}

// describe returns the public description of an object of a manifest.
func (r *Release) describe(object *unstructured.Unstructured) (Object, error) {
	described := Object{GroupVersionKind: object.GroupVersionKind(), Name: object.GetName(), Keep: isKept(object)}
	info, err := r.info(object)
	if isUnserved(err) {
		return described, nil
	}
	if err != nil {
		return Object{}, err
	}
	described.Namespaced, described.Namespace = info.Namespaced(), info.Namespace
	return described, nil
}
