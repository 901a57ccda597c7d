package operator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/templates"
)

// Serving are settings of the catalog, its pods and the operator's pods.
type Serving struct {
	// IndexImage contains opm. DecompressionImage contains sh, cat and gzip; it is used only for large catalogs.
	IndexImage, DecompressionImage string
	// CatalogImage is an image that contains the catalog and is served by OLM; empty to serve the catalog from ConfigMaps.
	CatalogImage string
	// PullPolicy applies to the registry's pod; PullSecret is the name of a secret for all images.
	PullPolicy, PullSecret string
	// ServiceAccount is used by the registry's pod; empty for the default one.
	ServiceAccount string
	// Legacy omits the security context, for clusters without Pod Security Standards.
	Legacy bool
	// NodeSelector and Env apply to the pods of the registry and the operator.
	NodeSelector map[string]string
	Env          []EnvVar
}

// EnvVar is an environment variable of containers.
type EnvVar struct{ Name, Value string }

const (
	groupVersion  = olm.Group + "/v1"
	registryLabel = "operon/registry"
	// packageLabel and managerLabel mark the objects of Run.
	packageLabel = "operon/package"
	managerLabel = "app.kubernetes.io/managed-by"
	// groupName is the name of the OperatorGroup, as in operator-sdk, whose cleanup deletes it.
	groupName = "operator-sdk-og"
	grpcPort  = 50051
)

// objectSet are the objects of a run.
type objectSet struct {
	// registry are the objects that serve the catalog, with deployment; none with a catalog image.
	registry                     []*kube.Object
	deployment                   *kube.Object
	catalog, group, subscription *kube.Object
}

func (o *objectSet) all() []*kube.Object {
	return append(slices.Clone(o.registry), o.catalog, o.group, o.subscription)
}

// Objects returns the objects that Run would apply in a namespace without an OperatorGroup, in order.
func Objects(o RunOptions) ([]*kube.Object, error) {
	targets, err := o.Mode.Targets(o.Bundle, o.Namespace)
	if err != nil {
		return nil, err
	}
	r := &run{RunOptions: o, subscription: subscriptionName(o.Bundle.CSV)}
	objects, err := r.objects(targets)
	if err != nil {
		return nil, err
	}
	return objects.all(), nil
}

// subscriptionName returns the name of the Subscription, as in operator-sdk.
func subscriptionName(csv string) string {
	return shorten(strings.ReplaceAll(strings.ToLower(csv), ".", "-"), "-sub")
}

// catalogName returns the name of the CatalogSource of a package, as in operator-sdk.
func catalogName(pkg string) string {
	return shorten(strings.ReplaceAll(strings.ToLower(pkg), ".", "-"), "-catalog")
}

// shorten appends a suffix to a name. A long name is cut and made unique with a hash.
func shorten(name, suffix string) string {
	const limit = 63 - len("-registry-12345678")
	if len(name)+len(suffix) <= limit {
		return name + suffix
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:limit-len(suffix)-9], "-") + "-" + hex.EncodeToString(sum[:4]) + suffix
}

// isManaged reports whether Run for a package created an object.
func isManaged(o *kube.Object, pkg string) bool {
	labels := o.GetLabels()
	return labels[managerLabel] == kube.Manager && labels[packageLabel] == labelValue(pkg)
}

// labelValue returns the name of a package as the value of a label.
func labelValue(pkg string) string {
	if len(pkg) <= 63 {
		return pkg
	}
	return shorten(pkg, "")
}

// objects renders the objects from the templates.
func (r *run) objects(targets []string) (*objectSet, error) {
	catalog := catalogName(r.Bundle.Package)
	sum := sha256.Sum256(r.Bundle.Catalog)
	s := r.Serving
	values := map[string]string{
		"Package": r.Bundle.Package, "CSV": r.Bundle.CSV, "Channel": r.Bundle.Channel, "Namespace": r.Namespace,
		"Catalog": catalog, "Registry": r.registryName(), "Subscription": r.subscription,
		"Digest": hex.EncodeToString(sum[:16]), "IndexImage": s.IndexImage, "DecompressionImage": s.DecompressionImage,
		"PullPolicy": s.PullPolicy, "SecurityContext": map[bool]string{true: "legacy", false: "restricted"}[s.Legacy],
	}
	o := &objectSet{}
	for file, place := range map[string]**kube.Object{
		"03-catalogsource": &o.catalog, "04-operatorgroup": &o.group, "05-subscription": &o.subscription,
	} {
		objects, err := render(file, values)
		if err != nil {
			return nil, err
		}
		*place = objects[0]
	}
	if s.CatalogImage == "" {
		objects, err := render("01-registry", values)
		if err != nil {
			return nil, err
		}
		o.deployment = objects[0]
		maps, err := r.volumes(o.deployment, values)
		if err != nil {
			return nil, err
		}
		o.registry = append(maps, objects...)
		r.podSettings(o.deployment)
	}
	r.catalogSettings(o.catalog)
	if len(targets) > 0 {
		setAt(o.group, anySlice(targets), "spec", "targetNamespaces")
	}
	if config := r.operatorConfig(); len(config) > 0 {
		setAt(o.subscription, config, "spec", "config")
	}
	for _, object := range o.all() {
		object.SetLabels(map[string]string{managerLabel: kube.Manager, packageLabel: labelValue(r.Bundle.Package)})
	}
	return o, nil
}

// registryName returns the name of the registry. It depends on the catalog, since OLM caches what it reads from an address.
func (r *run) registryName() string {
	sum := sha256.Sum256(r.Bundle.Catalog)
	return catalogName(r.Bundle.Package) + "-registry-" + hex.EncodeToString(sum[:4])
}

// render returns the objects of a template in the directory run.
func render(file string, values map[string]string) ([]*kube.Object, error) {
	text, err := renderText(file, values)
	if err != nil {
		return nil, err
	}
	objects, err := kube.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("templates/run/%s: %w", file, err)
	}
	return objects, nil
}

// renderText executes a template in the directory run.
func renderText(file string, values map[string]string) ([]byte, error) {
	return templates.Execute("run/"+file+".yaml.tmpl", values)
}

// setAt sets a field of an object and creates its parents.
func setAt(o *kube.Object, value any, fields ...string) {
	m := o.Object
	for _, field := range fields[:len(fields)-1] {
		next, ok := m[field].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[field] = next
		}
		m = next
	}
	m[fields[len(fields)-1]] = value
}

// decodeMap decodes a template that is part of an object.
func decodeMap(text []byte) (map[string]any, error) {
	content := map[string]any{}
	return content, safeyaml.UnmarshalJSON(text, &content)
}
