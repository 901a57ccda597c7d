package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"
)

// missingCRDs returns the objects of the crds directory that do not exist. The kinds of those that the operator may not read are not
// checked.
func (c *check) missingCRDs(ctx context.Context) (kube.ResourceList, error) {
	var missing kube.ResourceList
	for _, crd := range c.crds {
		info, err := c.info(crd.DeepCopy())
		if err != nil {
			return nil, err
		}
		if err := c.dry(info); err != nil {
			return nil, err
		}
		live, err := c.find(ctx, info)
		switch {
		case apierrors.IsForbidden(err):
			if kind, ok := definedKind(crd); ok {
				c.undefined[kind] = true
			}
			continue
		case err != nil:
			return nil, err
		case live == nil:
			missing = append(missing, info)
			c.missing = append(c.missing, info)
		}
		if err := c.noteDefinition(ctx, info, live); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// ignoreForbidden ignores that the operator may not create CRDs, which others may have to.
func ignoreForbidden(err error) error {
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// noteDefinition notes a CRD that does not exist or that may change: objects of its kind can't be checked before.
func (c *check) noteDefinition(ctx context.Context, info *resource.Info, live *unstructured.Unstructured) error {
	kind, ok := definedKind(info.Object.(*unstructured.Unstructured))
	if !ok || c.undefined[kind] {
		return nil
	}
	if live == nil {
		c.undefined[kind] = true
		return nil
	}
	copied := *info
	copied.Object = info.Object.DeepCopyObject()
	method, patch, err := driftPatch(&copied, live)
	if err != nil || patch == nil {
		return err
	}
	result, err := c.patch(ctx, &copied, method, patch, true)
	c.undefined[kind] = err != nil || !sameContent(live, result)
	return nil
}

// needsMissing reports whether the server refuses an object only because of what the operation creates before it: such as the
// namespace, the service account of a pod or the role of a binding, or because it can't be asked: a webhook supports no dry run.
func (c *check) needsMissing(info *resource.Info, err error) bool {
	text := strings.ToLower(err.Error())
	if strings.Contains(text, "does not support dry run") {
		return true
	}
	for _, other := range c.missing {
		if other != info && other.Name != "" && mentions(text, other) {
			return true
		}
	}
	if apierrors.IsNotFound(err) && c.bindsMissing(info.Object) {
		return true
	}
	return slices.ContainsFunc(c.guards, func(guard string) bool { return strings.Contains(text, guard) })
}

// bindsMissing reports whether an object is a binding whose role is missing. The error of the server names the binding.
func (c *check) bindsMissing(object runtime.Object) bool {
	binding, ok := object.(*unstructured.Unstructured)
	if !ok {
		return false
	}
	kind, _, _ := unstructured.NestedString(binding.Object, "roleRef", "kind")
	name, _, _ := unstructured.NestedString(binding.Object, "roleRef", "name")
	return slices.ContainsFunc(c.missing, func(other *resource.Info) bool {
		return other.Name == name && other.Mapping.GroupVersionKind.Kind == kind
	})
}

// noteGuard notes what errors say if an object of the release itself refuses others: a quota that the operation may raise, or a
// webhook whose workload the operation may repair.
func (c *check) noteGuard(object *unstructured.Unstructured) {
	switch object.GetKind() {
	case "ResourceQuota":
		c.guards = append(c.guards, "exceeded quota: "+object.GetName()+",")
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
		for _, webhook := range webhooks {
			if fields, ok := webhook.(map[string]any); ok {
				c.guards = append(c.guards, strings.ToLower(fmt.Sprintf("failed calling webhook %q", fields["name"])))
			}
		}
	}
}

// mentions reports whether the text of an error, in lower case, is about an object that is not found.
func mentions(text string, info *resource.Info) bool {
	name := strings.ToLower(info.Name)
	kind := strings.ToLower(info.Mapping.GroupVersionKind.Kind)
	plural := info.Mapping.Resource.GroupResource().String()
	for _, found := range []string{
		plural + ` "` + name + `" not found`,
		kind + ` "` + name + `" not found`,
		kind + ` "` + name + `" does not exist`,
		`no ` + kind + ` with name ` + name + ` was found`,
	} {
		if strings.Contains(text, found) {
			return true
		}
	}
	return false
}
