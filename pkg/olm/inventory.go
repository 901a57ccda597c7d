package olm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// UserData is what a cluster holds of its users that goes, or changes, with OLM.
type UserData struct {
	// Operators are ClusterServiceVersions, by namespace and name, with the kinds that they serve.
	Operators []Operator
	// Subscriptions and Catalogs are those of users, by namespace and name.
	Subscriptions, Catalogs []string
	// Contents are other objects in the namespaces that go.
	Contents []string

	csvs []*kube.Object
}

// Operator is one that OLM has installed.
type Operator struct {
	Namespace, Name string
	Kinds           []Served
}

// Served is a kind of custom resources that an operator serves.
type Served struct {
	// CRD is its definition, like memcacheds.cache.example.com.
	CRD string
	// Going are resources in namespaces that go; Staying are others, which nobody serves any more.
	Going, Staying []string

	going []*kube.Object
}

// Empty tells that no user loses anything.
func (u *UserData) Empty() bool {
	return len(u.Operators)+len(u.Subscriptions)+len(u.Catalogs)+len(u.Contents) == 0
}

// mostNames is how many objects are told by name.
const mostNames = 5

// Lines say what goes, for people.
func (u *UserData) Lines() []string {
	var lines []string
	for _, operator := range u.Operators {
		lines = append(lines, fmt.Sprintf("operator %s/%s goes, with its deployments and rights", operator.Namespace, operator.Name))
		for _, kind := range operator.Kinds {
			if len(kind.Going) > 0 {
				lines = append(lines, fmt.Sprintf("  %s: %d go with their namespace: %s", kind.CRD, len(kind.Going), enumerate(kind.Going)))
			}
			if len(kind.Staying) > 0 {
				lines = append(lines, fmt.Sprintf("  %s: %d stay, and no operator serves them any more: %s", kind.CRD, len(kind.Staying), enumerate(kind.Staying)))
			}
			if len(kind.Going)+len(kind.Staying) == 0 {
				lines = append(lines, fmt.Sprintf("  %s: the definition stays; there are no resources", kind.CRD))
			}
		}
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"subscription %s goes", u.Subscriptions}, {"catalog %s goes", u.Catalogs}, {"%s goes with its namespace", u.Contents}} {
		for _, name := range list.names {
			lines = append(lines, fmt.Sprintf(list.what, name))
		}
	}
	return lines
}

func enumerate(names []string) string {
	if len(names) <= mostNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
}

// Inventory finds what users lose when OLM is uninstalled.
func Inventory(ctx context.Context, client *kube.Client, found *Installation) (*UserData, error) {
	data := &UserData{}
	csvs, err := client.List(ctx, ResourceOf("clusterserviceversions", CSVKind), "", nil)
	if err != nil {
		return nil, ExplainForbidden(err)
	}
	namespaces := found.Namespaces()
	for _, csv := range csvs {
		if csv.GetLabels()["olm.copiedFrom"] != "" || csv.GetName() == packageServer && csv.GetNamespace() == found.Namespace {
			continue
		}
		operator := Operator{Namespace: csv.GetNamespace(), Name: csv.GetName()}
		owned := kube.ListAt(csv.Object, "spec", "customresourcedefinitions", "owned")
		for _, item := range owned {
			served, err := servedKind(ctx, client, item, namespaces)
			if err != nil {
				return nil, ExplainForbidden(err)
			}
			if !slices.ContainsFunc(operator.Kinds, func(s Served) bool { return s.CRD == served.CRD }) {
				operator.Kinds = append(operator.Kinds, *served)
			}
		}
		data.Operators = append(data.Operators, operator)
		data.csvs = append(data.csvs, csv)
	}
	for _, list := range []struct {
		resource kube.Resource
		into     *[]string
	}{
		{ResourceOf("subscriptions", "Subscription"), &data.Subscriptions},
		{ResourceOf("catalogsources", CatalogSourceKind), &data.Catalogs},
	} {
		objects, err := client.ListNames(ctx, list.resource, "", nil)
		if err != nil {
			return nil, ExplainForbidden(err)
		}
		for _, o := range objects {
			if o.GetName() != defaultCatalog || o.GetNamespace() != found.Namespace {
				*list.into = append(*list.into, o.GetNamespace()+"/"+o.GetName())
			}
		}
	}
	if data.Contents, err = contents(ctx, client, found, data.Operators); err != nil {
		return nil, ExplainForbidden(err)
	}
	return data, nil
}

func ResourceOf(name, kind string) kube.Resource {
	return kube.Resource{APIVersion: V1Alpha1, Name: name, Kind: kind, Namespaced: true}
}

// Namespaces are those that come and go with OLM.
func (i *Installation) Namespaces() []string {
	return []string{OperatorsNamespace, i.Namespace}
}

// servedKind lists the custom resources of a definition that a ClusterServiceVersion owns.
func servedKind(ctx context.Context, client *kube.Client, description any, namespaces []string) (*Served, error) {
	text := func(field string) string { return kube.StringAt(description, field) }
	served := &Served{CRD: text("name")}
	plural, Group, _ := strings.Cut(served.CRD, ".")
	objects, err := client.ListNames(ctx, kube.Resource{APIVersion: Group + "/" + text("version"), Name: plural, Kind: text("kind")}, "", nil)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		name := strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
		if slices.Contains(namespaces, o.GetNamespace()) {
			served.Going = append(served.Going, name)
			served.going = append(served.going, o)
		} else {
			served.Staying = append(served.Staying, name)
		}
	}
	return served, nil
}

// contents are the objects in the namespaces that go which neither OLM nor Kubernetes has made, and which
// the operators do not serve.
func contents(ctx context.Context, client *kube.Client, found *Installation, operators []Operator) ([]string, error) {
	objects, err := embeddedObjects()
	if err != nil {
		return nil, err
	}
	release := &Release{Version: DefaultVersion, Objects: objects}
	release.Customize(Settings{Namespace: found.Namespace})
	resources, _, err := client.Resources(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range resources {
		if !r.Namespaced || r.Group() == Group || r.Group() == "packages."+Group || isServed(operators, r) {
			continue
		}
		for _, namespace := range found.Namespaces() {
			objects, err := client.ListNames(ctx, r, namespace, nil)
			if err != nil {
				return nil, err
			}
			for _, o := range objects {
				if !ownedByOthers(o) && !release.has(o) {
					names = append(names, kube.FullName(o))
				}
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

func isServed(operators []Operator, r kube.Resource) bool {
	return slices.ContainsFunc(operators, func(o Operator) bool {
		return slices.ContainsFunc(o.Kinds, func(s Served) bool { return s.CRD == r.Name+"."+r.Group() })
	})
}

// ownedByOthers tells objects that come and go with something else.
func ownedByOthers(o *kube.Object) bool {
	labels := o.GetLabels()
	_, olm := labels["olm.owner"]
	if olm || labels["olm.managed"] == "true" || len(o.GetOwnerReferences()) > 0 {
		return true
	}
	switch o.GetKind() {
	case "Event", "Endpoints", "EndpointSlice", "Lease", "PodMetrics":
		return true
	case "ConfigMap":
		return o.GetName() == "kube-root-ca.crt" || o.GetName() == "openshift-service-ca.crt"
	case "ServiceAccount":
		return o.GetName() == "default"
	case "Secret":
		return o.GetAnnotations()["kubernetes.io/service-account.name"] != ""
	}
	return false
}

// has tells that the release has an object of this kind and name.
func (r *Release) has(o *kube.Object) bool {
	return slices.ContainsFunc(r.Objects, func(own *kube.Object) bool {
		return own.GetKind() == o.GetKind() && own.GetNamespace() == o.GetNamespace() && own.GetName() == o.GetName()
	})
}
