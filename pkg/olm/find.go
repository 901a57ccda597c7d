package olm

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/kube"
)

// Installation is what a cluster holds of OLM.
type Installation struct {
	// Namespace is where OLM runs, or was looked for.
	Namespace string
	// Present tells that there is anything of OLM, if only a remainder.
	Present bool
	// Version is the one that it says it has, empty where it does not say; Source is what says so.
	Version, Source string
	// Contradictions are parts that say they are of other versions.
	Contradictions []string

	crds []*kube.Object
	// elsewhere is the namespace of another OLM.
	elsewhere string
}

// Find reads what a cluster holds of OLM. It is no error that there is none.
func Find(ctx context.Context, client *kube.Client, namespace string) (*Installation, error) {
	found, err := find(ctx, client, namespace)
	return found, ExplainForbidden(err)
}

func find(ctx context.Context, client *kube.Client, namespace string) (*Installation, error) {
	found := &Installation{Namespace: namespace}
	definitions, err := client.ListNames(ctx, kube.CRDs(), "", nil)
	if err != nil {
		return nil, err
	}
	for _, crd := range definitions {
		if strings.HasSuffix(crd.GetName(), "."+Group) {
			found.crds = append(found.crds, crd)
		}
	}
	role, err := client.Get(ctx, kube.Named("rbac.authorization.k8s.io/v1", "ClusterRole", "", clusterRole))
	if err != nil {
		return nil, err
	}
	binding, err := client.Get(ctx, kube.Named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "olm-operator-binding-"+namespace))
	if err != nil {
		return nil, err
	}
	var running []*kube.Object
	for _, name := range []string{olmOperator, catalogOperator} {
		list, err := client.List(ctx, kube.Deployments(), "", url.Values{"fieldSelector": {"metadata.name=" + name}})
		if err != nil {
			return nil, err
		}
		running = append(running, list...)
	}
	for _, d := range running {
		if d.GetNamespace() != namespace && usesImage(d) {
			found.elsewhere = d.GetNamespace()
		}
	}
	running = slices.DeleteFunc(running, func(d *kube.Object) bool { return d.GetNamespace() != namespace })
	found.Present = len(found.crds) > 0 || role != nil || binding != nil || len(running) > 0

	csv, err := client.Get(ctx, kube.Named(V1Alpha1, CSVKind, namespace, packageServer))
	if err != nil {
		return nil, err
	}
	if csv != nil {
		found.says(versionOf(csv), "the packageserver ClusterServiceVersion")
	}
	for _, d := range running {
		found.says(imageVersion(d), "the image of deployment "+namespace+"/"+d.GetName())
	}
	return found, nil
}

// Elsewhere is the error of an OLM that runs in another namespace, where two would undo each other's work.
func (i *Installation) Elsewhere() error {
	switch {
	case i.elsewhere == "":
		return nil
	case strings.HasPrefix(i.elsewhere, "openshift-"):
		return fmt.Errorf("OLM in the namespace %s is part of this OpenShift cluster, which looks after it itself", i.elsewhere)
	}
	return fmt.Errorf("OLM runs in the namespace %s; give --olm-namespace %[1]s", i.elsewhere)
}

func (i *Installation) says(version, source string) {
	switch {
	case version == "":
	case i.Version == "":
		i.Version, i.Source = version, source
	case !sameVersion(i.Version, version):
		i.Contradictions = append(i.Contradictions, fmt.Sprintf("%s says %s", source, version))
	}
}

// versionOf is the version that a packageserver ClusterServiceVersion says it is of.
func versionOf(csv *kube.Object) string {
	version := csv.GetLabels()[versionLabel]
	if version == "" {
		version, _, _ = unstructured.NestedString(csv.Object, "spec", "version")
	}
	canonical, err := Canonical(version)
	if err != nil || canonical == Latest {
		return ""
	}
	return canonical
}

// imageVersion is the version in the tag of a Deployment's image; releases have digests there instead.
func imageVersion(deployment *kube.Object) string {
	for _, c := range containers(deployment) {
		image, _ := c["image"].(string)
		image, _, _ = strings.Cut(image, "@")
		tag := image[strings.LastIndex(image, ":")+1:]
		if semver.IsValid(tag) && semver.Canonical(tag) == tag {
			return tag
		}
	}
	return ""
}

// usesImage tells that a Deployment runs OLM, and not something else of that name.
func usesImage(deployment *kube.Object) bool {
	for _, c := range containers(deployment) {
		if command, ok := c["command"].([]any); ok && len(command) > 0 && (command[0] == "/bin/olm" || command[0] == "/bin/catalog") {
			return true
		}
	}
	return false
}
