package olm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// UserData lists what users lose when OLM is uninstalled.
type UserData struct {
	// Operators are the installed operators, with the kinds that they serve.
	Operators []Operator
	// Subscriptions and Catalogs belong to users, as namespace/name.
	Subscriptions, Catalogs []string
	// Contents are other objects in the namespaces that are deleted.
	Contents []string

	csvs []*kube.Object
}

// An Operator was installed by OLM.
type Operator struct {
	Namespace, Name string
	Kinds           []Served
}

// Served is a kind of custom resources of an operator.
type Served struct {
	// CRD is the name of its definition, such as memcacheds.cache.example.com.
	CRD string
	// Deleted are the resources in namespaces that are deleted; Kept are others, which will have no operator.
	Deleted, Kept []string

	deleted []*kube.Object
}

// Empty reports whether users lose nothing.
func (u *UserData) Empty() bool {
	return len(u.Operators)+len(u.Subscriptions)+len(u.Catalogs)+len(u.Contents) == 0
}

// Lines describes the loss.
func (u *UserData) Lines() []string {
	var lines []string
	for _, operator := range u.Operators {
		lines = append(lines, fmt.Sprintf("operator %s/%s will be deleted with its deployments and permissions", operator.Namespace, operator.Name))
		for _, kind := range operator.Kinds {
			if len(kind.Deleted) > 0 {
				lines = append(lines, fmt.Sprintf("  %s: %d will be deleted with their namespace: %s", kind.CRD, len(kind.Deleted), diag.Enumerate(kind.Deleted)))
			}
			if len(kind.Kept) > 0 {
				lines = append(lines, fmt.Sprintf("  %s: %d will be kept without an operator: %s", kind.CRD, len(kind.Kept), diag.Enumerate(kind.Kept)))
			}
			if len(kind.Deleted)+len(kind.Kept) == 0 {
				lines = append(lines, fmt.Sprintf("  %s: the definition will be kept; it has no resources", kind.CRD))
			}
		}
	}
	for _, list := range []struct {
		format string
		names  []string
	}{{"subscription %s will be deleted", u.Subscriptions}, {"catalog %s will be deleted", u.Catalogs}, {"%s will be deleted with its namespace", u.Contents}} {
		for _, name := range list.names {
			lines = append(lines, fmt.Sprintf(list.format, name))
		}
	}
	return lines
}

// Inventory reads what users lose when OLM is uninstalled.
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

// ResourceOf returns the resource of a kind of OLM.
func ResourceOf(name, kind string) kube.Resource {
	return kube.Resource{APIVersion: V1Alpha1, Name: name, Kind: kind, Namespaced: true}
}

// Namespaces returns the namespaces that are created and deleted with OLM.
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
			served.Deleted = append(served.Deleted, name)
			served.deleted = append(served.deleted, o)
		} else {
			served.Kept = append(served.Kept, name)
		}
	}
	return served, nil
}

// contents returns the objects in the namespaces of OLM that neither OLM nor Kubernetes created, without custom resources of
// operators.
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
				if !IsManaged(o) && !release.has(o) {
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

// IsManaged reports whether an object is created and deleted with another one.
func IsManaged(o *kube.Object) bool {
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

// has reports whether the release has an object of this kind and name.
func (r *Release) has(o *kube.Object) bool {
	return slices.ContainsFunc(r.Objects, func(own *kube.Object) bool {
		return own.GetKind() == o.GetKind() && own.GetNamespace() == o.GetNamespace() && own.GetName() == o.GetName()
	})
}
