package deploy

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
	"github.com/operon-sdk/operon/pkg/stage"
)

// A Target is what both Deploy and Undeploy work on. All fields but the Reporter are required.
type Target struct {
	Client *kube.Client
	// Project is the name of the project, and Objects are its manifests.
	Project string
	Objects []*kube.Object

	olm.Reporter
}

// placeholder is the manager's image in scaffolded manifests, which is in no registry.
const placeholder = "controller:latest"

// CheckImages returns an error unless the manifests have an image: the one given or, if it is empty, any but the placeholder of the
// scaffold.
func CheckImages(objects []*kube.Object, image string) error {
	images := map[string]bool{}
	for _, o := range objects {
		for _, list := range []string{"initContainers", "containers"} {
			for _, c := range kube.ListAt(o.Object, "spec", "template", "spec", list) {
				images[kube.StringAt(c, "image")] = true
			}
		}
	}
	switch {
	case image != "" && !uses(images, image):
		return diag.Findings{{Field: "--image", Value: image, Problem: "has no effect: no container of the manifests has the image named controller in config/manager"}}
	case image == "" && images[placeholder]:
		return errors.New("the manager's image is " + placeholder + ", the placeholder of the scaffold; pass --image")
	}
	return nil
}

// uses reports whether an image is among others. Without a tag, it keeps the tag of the one that it replaces.
func uses(images map[string]bool, image string) bool {
	for other := range images {
		if other == image || strings.HasPrefix(other, image+":") {
			return true
		}
	}
	return false
}

// home returns the namespace of the manager, or of the first object that has one.
func home(client *kube.Client, objects []*kube.Object) string {
	if manager := stage.ManagerOf(objects); manager != nil {
		return cmp.Or(manager.GetNamespace(), client.Namespace)
	}
	for _, o := range objects {
		if o.GetNamespace() != "" {
			return o.GetNamespace()
		}
	}
	return client.Namespace
}

// rank returns the position of an object in the order of its dependencies.
func rank(o *kube.Object) int {
	switch o.GetKind() {
	case "Namespace":
		return 0
	case kube.CRDKind:
		return 1
	case "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding":
		return 2
	case "ConfigMap", "Secret", "PersistentVolumeClaim", "ResourceQuota", "LimitRange", "PriorityClass":
		return 3
	case "Service":
		return 4
	case "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod":
		return 6
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicyBinding", "APIService":
		return 7
	}
	return 5
}

// ordered returns copies of the objects in the order of their dependencies.
func ordered(objects []*kube.Object) []*kube.Object {
	var list []*kube.Object
	for _, o := range objects {
		list = append(list, o.DeepCopy())
	}
	slices.SortStableFunc(list, func(a, b *kube.Object) int { return rank(a) - rank(b) })
	return list
}

// holdsData reports whether the deletion of an object loses data of users.
func holdsData(o *kube.Object) bool {
	return isKind(o, kube.CRDKind, "Namespace", "PersistentVolumeClaim", "PersistentVolume")
}

// defines reports whether one of some objects defines the kind of another.
func defines(objects []*kube.Object, o *kube.Object) bool {
	group := kube.Resource{APIVersion: o.GetAPIVersion()}.Group()
	return slices.ContainsFunc(objects, func(crd *kube.Object) bool {
		return crd.GetKind() == kube.CRDKind && kube.StringAt(crd.Object, "spec", "group") == group && kube.StringAt(crd.Object, "spec", "names", "kind") == o.GetKind()
	})
}

// has reports whether objects contain another, whatever its version.
func has(objects []*kube.Object, other *kube.Object) bool {
	return slices.ContainsFunc(objects, func(o *kube.Object) bool { return identity(o) == identity(other) })
}
