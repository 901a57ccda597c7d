package olm

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"text/template"

	"github.com/operator-framework/api/crds"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/templates"
)

const (
	// DefaultVersion is the version whose objects are in the program.
	DefaultVersion = "v0.46.0"
	// DefaultNamespace is where OLM runs unless it is told otherwise.
	DefaultNamespace = "olm"
	// OperatorsNamespace is where operators for the whole cluster are installed.
	OperatorsNamespace = "operators"

	// opmVersion is operator-registry's version that DefaultVersion is made for.
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

// Release is what a version of OLM consists of.
type Release struct {
	// Version is like v0.46.0.
	Version string
	// CRDs are its custom resource definitions, Objects the rest, in the order in which they are to be applied.
	CRDs, Objects []*kube.Object
	// Checksums are those of the files that it was downloaded in; nil for a release that is part of the program.
	Checksums *Checksums
	// Pinned reports whether Checksums were compared with known ones.
	Pinned bool

	// namesOnly tells that another version may have other objects.
	namesOnly bool
}

// All are the objects of a release in the order in which they are to be applied.
func (r *Release) All() []*kube.Object { return slices.Concat(r.CRDs, r.Objects) }

// Embedded is the release of DefaultVersion, made from what is in the program.
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

// embeddedObjects are the objects of DefaultVersion but its CRDs, which are large.
func embeddedObjects() ([]*kube.Object, error) {
	const folder = "olm"
	entries, err := fs.ReadDir(templates.FS, folder)
	if err != nil {
		return nil, err
	}
	var all []*kube.Object
	values := struct{ Version, Number, Image, OPMImage string }{
		DefaultVersion, DefaultVersion[1:], imageName + ":" + DefaultVersion, "quay.io/operator-framework/opm:" + opmVersion,
	}
	for _, entry := range entries {
		t, err := template.ParseFS(templates.FS, folder+"/"+entry.Name())
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := t.Execute(&text, values); err != nil {
			return nil, err
		}
		objects, err := kube.Decode(text.Bytes())
		if err != nil {
			return nil, fmt.Errorf("templates/%s/%s: %w", folder, entry.Name(), err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

// NamesOnly is the release without what its objects say, to look for them where the installed version's are not
// known, and compare nothing.
func (r *Release) NamesOnly() *Release {
	names := func(objects []*kube.Object) []*kube.Object {
		var short []*kube.Object
		for _, o := range objects {
			short = append(short, kube.Named(o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()))
		}
		return short
	}
	return &Release{Version: r.Version, CRDs: names(r.CRDs), Objects: names(r.Objects), namesOnly: true}
}
