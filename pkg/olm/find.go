package olm

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/kube"
)

// An Installation describes OLM in a cluster.
type Installation struct {
	// Namespace is the namespace in which Find looked for OLM.
	Namespace string
	// Present reports whether any part of OLM exists.
	Present bool
	// Version is the installed version, empty if unknown. Source names the object that states it.
	Version, Source string
	// Contradictions describe objects that state other versions.
	Contradictions []string

	crds []*kube.Object
	// otherNamespace is the namespace of another installation.
	otherNamespace string
}

// Find reads the installation of OLM in a namespace. It is not an error if there is none.
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
		if d.GetNamespace() != namespace && runsOLM(d) {
			found.otherNamespace = d.GetNamespace()
		}
	}
	running = slices.DeleteFunc(running, func(d *kube.Object) bool { return d.GetNamespace() != namespace })
	found.Present = len(found.crds) > 0 || role != nil || binding != nil || len(running) > 0

	csv, err := client.Get(ctx, kube.Named(V1Alpha1, CSVKind, namespace, packageServer))
	if err != nil {
		return nil, err
	}
	if csv != nil {
		found.addVersion(versionOf(csv), "the packageserver ClusterServiceVersion")
	}
	for _, d := range running {
		found.addVersion(imageVersion(d), "the image of deployment "+namespace+"/"+d.GetName())
	}
	return found, nil
}

// CheckNamespace returns an error if OLM runs in another namespace: two installations would overwrite each other's changes.
func (i *Installation) CheckNamespace() error {
	switch {
	case i.otherNamespace == "":
		return nil
	case strings.HasPrefix(i.otherNamespace, "openshift-"):
		return fmt.Errorf("OLM in the namespace %s is part of this OpenShift cluster, which manages it", i.otherNamespace)
	}
	return fmt.Errorf("OLM runs in the namespace %s; pass --olm-namespace %[1]s", i.otherNamespace)
}

// CheckVersion returns an error if the installed version is known, and not the expected one, which may be empty or Latest.
func (i *Installation) CheckVersion(expected string) error {
	if expected == "" || expected == Latest || i.Version == "" || sameVersion(expected, i.Version) {
		return nil
	}
	return fmt.Errorf("OLM %s is installed according to %s, not %s; leave out --version to use the installed version", i.Version, i.Source, expected)
}

// addVersion records the version that an object states.
func (i *Installation) addVersion(version, source string) {
	switch {
	case version == "":
	case i.Version == "":
		i.Version, i.Source = version, source
	case !sameVersion(i.Version, version):
		i.Contradictions = append(i.Contradictions, fmt.Sprintf("%s according to %s", version, source))
	}
}

// versionOf returns the version of OLM in the packageserver ClusterServiceVersion; empty if unknown.
func versionOf(csv *kube.Object) string {
	version := csv.GetLabels()[versionLabel]
	if version == "" {
		version = kube.StringAt(csv.Object, "spec", "version")
	}
	canonical, err := Canonical(version)
	if err != nil || canonical == Latest {
		return ""
	}
	return canonical
}

// imageVersion returns the version in the tag of a Deployment's image; empty for images with digests, as in releases.
func imageVersion(deployment *kube.Object) string {
	for _, c := range containersOf(deployment) {
		image, _ := c["image"].(string)
		image, _, _ = strings.Cut(image, "@")
		tag := image[strings.LastIndex(image, ":")+1:]
		if semver.IsValid(tag) && semver.Canonical(tag) == tag {
			return tag
		}
	}
	return ""
}

// runsOLM reports whether a Deployment runs OLM, not another program of that name.
func runsOLM(deployment *kube.Object) bool {
	for _, c := range containersOf(deployment) {
		if command, ok := c["command"].([]any); ok && len(command) > 0 && (command[0] == "/bin/olm" || command[0] == "/bin/catalog") {
			return true
		}
	}
	return false
}
