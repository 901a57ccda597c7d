package olm

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/operator-framework/api/crds"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/templates"
)

const (
	// DefaultVersion is the version whose objects are part of the program.
	DefaultVersion = "v0.46.0"
	// DefaultNamespace is the default namespace of OLM.
	DefaultNamespace = "olm"
	// OperatorsNamespace is the namespace of operators for the whole cluster.
	OperatorsNamespace = "operators"

	// opmVersion is the version of operator-registry for DefaultVersion.
	opmVersion = "v1.73.0"
	imageName  = "quay.io/operator-framework/olm"

	olmOperator     = "olm-operator"
	catalogOperator = "catalog-operator"
	packageServer   = "packageserver"
	defaultCatalog  = "operatorhubio-catalog"

	Group             = "operators.coreos.com"
	V1Alpha1          = Group + "/v1alpha1"
	packagesAPI       = "v1.packages.operators.coreos.com"
	CSVKind           = "ClusterServiceVersion"
	CatalogSourceKind = "CatalogSource"
	clusterRole       = "system:controller:operator-lifecycle-manager"
	versionLabel      = "olm.version"
)

// A Release holds the objects of a version of OLM.
type Release struct {
	// Version is spelled as by Canonical, such as v0.46.0.
	Version string
	// CRDs are its custom resource definitions, Objects the others, in the order in which they are applied.
	CRDs, Objects []*kube.Object
	// Checksums describe the downloaded files; nil for the release that is part of the program.
	Checksums *Checksums
	// Pinned reports whether Checksums were compared with known ones.
	Pinned bool

	// namesOnly reports whether the installed version can have other objects.
	namesOnly bool
}

// All returns all objects in the order in which they are applied.
func (r *Release) All() []*kube.Object { return slices.Concat(r.CRDs, r.Objects) }

// Embedded returns the release of DefaultVersion, which is part of the program.
func Embedded() (*Release, error) {
	objects, err := embeddedObjects()
	if err != nil {
		return nil, err
	}
	r := &Release{Version: DefaultVersion, Objects: objects}
	names := crds.AssetNames()
	slices.Sort(names)
	for _, name := range names {
		text, err := crds.Asset(name)
		if err != nil {
			return nil, err
		}
		crd := &kube.Object{}
		if err := safeyaml.UnmarshalJSON(text, &crd.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.CRDs = append(r.CRDs, crd)
	}
	return r, nil
}

// embeddedObjects returns the objects of DefaultVersion without its CRDs, which are large.
func embeddedObjects() ([]*kube.Object, error) {
	const dir = "olm"
	entries, err := fs.ReadDir(templates.FS, dir)
	if err != nil {
		return nil, err
	}
	var all []*kube.Object
	values := struct{ Version, Number, Image, OPMImage string }{
		DefaultVersion, DefaultVersion[1:], imageName + ":" + DefaultVersion, "quay.io/operator-framework/opm:" + opmVersion,
	}
	for _, entry := range entries {
		text, err := templates.Execute(dir+"/"+entry.Name(), values)
		if err != nil {
			return nil, err
		}
		objects, err := kube.Decode(text)
		if err != nil {
			return nil, fmt.Errorf("templates/%s/%s: %w", dir, entry.Name(), err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

// namesOnlyRelease returns the release without the contents of its objects, for an installed version whose objects are unknown.
func (r *Release) namesOnlyRelease() *Release {
	names := func(objects []*kube.Object) []*kube.Object {
		var short []*kube.Object
		for _, o := range objects {
			short = append(short, kube.Named(o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()))
		}
		return short
	}
	return &Release{Version: r.Version, CRDs: names(r.CRDs), Objects: names(r.Objects), namesOnly: true}
}
