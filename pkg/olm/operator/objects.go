package operator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/templates"
)

// Serving says how the catalog is served, and what its pods and the operator's need of the cluster.
type Serving struct {
	// IndexImage has opm, DecompressionImage has sh, cat and gzip and is used for large catalogs only.
	IndexImage, DecompressionImage string
	// CatalogImage is an image with the catalog in it, which OLM serves by itself; empty for a registry of ours.
	CatalogImage string
	// PullPolicy is that of the registry's pod, PullSecret names a secret for all pulls.
	PullPolicy, PullSecret string
	// ServiceAccount is that of the registry's pod; empty is the default one.
	ServiceAccount string
	// Legacy leaves the security context out, for clusters older than the Pod Security Standards.
	Legacy bool
	// AnyUser leaves the user's number to the cluster, as OpenShift wants it.
	AnyUser bool
	// NodeSelector and Env are for the registry's pod and the operator's.
	NodeSelector map[string]string
	Env          []EnvVar
}

// EnvVar is a variable of containers.
type EnvVar struct{ Name, Value string }

const (
	groupVersion  = olm.Group + "/v1"
	registryLabel = "operon/registry"
	// packageLabel and managerLabel mark what a run has made.
	packageLabel = "operon/package"
	managerLabel = "app.kubernetes.io/managed-by"
	// groupName is what operator-sdk calls the OperatorGroup, and takes as its own when it cleans up.
	groupName = "operator-sdk-og"
	grpcPort  = 50051
)

// objectSet are what a run makes.
type objectSet struct {
	// registry are the objects that serve the catalog, among them the deployment; there are none with a catalog image.
	registry                     []*kube.Object
	deployment                   *kube.Object
	catalog, group, subscription *kube.Object
}

func (o *objectSet) all() []*kube.Object {
	return append(slices.Clone(o.registry), o.catalog, o.group, o.subscription)
}

// Objects are what Run would apply, in order, for an OperatorGroup that is not there yet.
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

// subscriptionName is as operator-sdk forms it.
func subscriptionName(csv string) string {
	return shorten(strings.ReplaceAll(strings.ToLower(csv), ".", "-"), "-sub")
}

// CatalogName is the CatalogSource of a package, as operator-sdk calls it.
func CatalogName(pkg string) string {
	return shorten(strings.ReplaceAll(strings.ToLower(pkg), ".", "-"), "-catalog")
}

// shorten joins a name and its end so that it fits where names are short, and stays one of its own.
func shorten(name, end string) string {
	const most = 63 - len("-registry-12345678")
	if len(name)+len(end) <= most {
		return name + end
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:most-len(end)-9], "-") + "-" + hex.EncodeToString(sum[:4]) + end
}

// isOurs tells what a run for a package has made.
func isOurs(o *kube.Object, pkg string) bool {
	labels := o.GetLabels()
	return labels[managerLabel] == kube.Manager && labels[packageLabel] == labelValue(pkg)
}

// labelValue is a package's name as a label holds it.
func labelValue(pkg string) string {
	if len(pkg) <= 63 {
		return pkg
	}
	return shorten(pkg, "")
}

// objects makes them from the templates.
func (r *run) objects(targets []string) (*objectSet, error) {
	catalog := CatalogName(r.Bundle.Package)
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
		setAt(o.group, stringsOf(targets), "spec", "targetNamespaces")
	}
	if config := r.operatorConfig(); len(config) > 0 {
		setAt(o.subscription, config, "spec", "config")
	}
	for _, object := range o.all() {
		object.SetLabels(map[string]string{managerLabel: kube.Manager, packageLabel: labelValue(r.Bundle.Package)})
	}
	return o, nil
}

// registryName is that of the registry. It changes with the catalog: OLM keeps what it has read from an address.
func (r *run) registryName() string {
	sum := sha256.Sum256(r.Bundle.Catalog)
	return CatalogName(r.Bundle.Package) + "-registry-" + hex.EncodeToString(sum[:4])
}

// render makes the objects of one template of the run folder.
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

func renderText(file string, values map[string]string) ([]byte, error) {
	name := file + ".yaml.tmpl"
	t, err := template.New(name).Funcs(templates.Funcs()).ParseFS(templates.FS, "run/"+name)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := t.Option("missingkey=error").Execute(&text, values); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// setAt sets a field of an object; what leads there is made.
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

// decodeMap reads a template that is a part of an object.
func decodeMap(text []byte) (map[string]any, error) {
	content := map[string]any{}
	return content, safeyaml.UnmarshalJSON(text, &content)
}
