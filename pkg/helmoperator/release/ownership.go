package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/operon-sdk/operon/pkg/dependents"
)

// An OwnershipMode is what an installation or upgrade does with objects of the chart that exist and don't belong to the release.
type OwnershipMode string

// The modes.
const (
	// OwnershipDisabled refuses the operation, as Helm does.
	OwnershipDisabled OwnershipMode = "disabled"
	// OwnershipReport refuses the operation, too, with an *OwnershipError that describes what OwnershipEnabled would do.
	OwnershipReport OwnershipMode = "report"
	// OwnershipEnabled takes over objects in the namespace of the release and cluster-scoped ones, unless they belong to others.
	OwnershipEnabled OwnershipMode = "enabled"
)

func (m OwnershipMode) isValid() bool {
	return slices.Contains([]OwnershipMode{"", OwnershipDisabled, OwnershipReport, OwnershipEnabled}, m)
}

// A Takeover describes an object of the chart that exists and doesn't belong to the release.
type Takeover struct {
	// Object has no namespace if it is in the namespace of the release.
	Object
	// Refused is why the object isn't taken over, such as "belongs to the Helm release prod/other". It is empty otherwise.
	Refused string
	// Managers are the clients that have written the object, sorted, such as kubectl-create.
	Managers []string
	// Fields are the fields that the takeover changes, sorted, such as data.text, without the metadata of ownership.
	Fields []string
}

// The limits of what messages about takeovers name.
const (
	maxTakeovers      = 20
	maxTakeoverFields = 8
)

// String returns the object and what is known about it, without values.
func (t Takeover) String() string {
	if t.Refused != "" {
		return fmt.Sprintf("%s (%s)", t.Object, t.Refused)
	}
	text := "no field would change"
	if len(t.Fields) > 0 {
		text = "would change " + strings.Join(limited(t.Fields, maxTakeoverFields), ", ")
	}
	if len(t.Managers) > 0 {
		text = "written by " + strings.Join(limited(t.Managers, 3), ", ") + "; " + text
	}
	return fmt.Sprintf("%s (%s)", t.Object, text)
}

// limited returns the first elements of a list, and how many more there are.
func limited(list []string, limit int) []string {
	if more := len(list) - limit; more > 0 {
		list = append(slices.Clone(list[:limit]), fmt.Sprintf("%d more", more))
	}
	return list
}

// DescribeTakeovers returns takeovers for messages, sorted.
func DescribeTakeovers(takeovers []Takeover) string {
	texts := make([]string, len(takeovers))
	for i, t := range takeovers {
		texts[i] = t.String()
	}
	slices.Sort(texts)
	return strings.Join(limited(texts, maxTakeovers), ", ")
}

// An OwnershipError is returned if objects of the chart exist that don't belong to the release. Nothing was changed.
type OwnershipError struct {
	Mode      OwnershipMode
	Takeovers []Takeover
}

// Error implements error.
func (e *OwnershipError) Error() string {
	if e.Mode == OwnershipReport {
		return "objects of the chart exist and don't belong to the release (takeOwnership: report changes nothing): " + DescribeTakeovers(e.Takeovers)
	}
	refused := slices.DeleteFunc(slices.Clone(e.Takeovers), func(t Takeover) bool { return t.Refused == "" })
	return "objects of the chart belong to others and aren't taken over: " + DescribeTakeovers(refused)
}

// checkOwnership returns an error if an operation with takeovers isn't allowed.
func (r *Release) checkOwnership(takeovers []Takeover) error {
	isRefused := func(t Takeover) bool { return t.Refused != "" }
	if len(takeovers) == 0 || r.options.TakeOwnership == OwnershipEnabled && !slices.ContainsFunc(takeovers, isRefused) {
		return nil
	}
	return &OwnershipError{r.options.TakeOwnership, takeovers}
}

// takeover returns what a takeover of an object of the chart would change, and the patch that gives the object back, or nil if Helm
// regards the live object as one of the release.
func (r *Release) takeover(ctx context.Context, info *resource.Info, live *unstructured.Unstructured) (*Takeover, *adoption, error) {
	if r.isOwned(live) {
		return nil, nil, nil
	}
	wanted := *info
	wanted.Object = info.Object.DeepCopyObject()
	r.applied(&wanted)
	t := &Takeover{Object: describeObject(info)}
	t.Namespace = r.keyOf(info.Object.(*unstructured.Unstructured)).namespace
	var err error
	if t.Refused, err = r.refusal(ctx, &wanted, live); err != nil {
		return nil, nil, err
	}
	for _, entry := range live.GetManagedFields() {
		if entry.Subresource == "" && entry.Manager != "" {
			t.Managers = append(t.Managers, entry.Manager)
		}
	}
	slices.Sort(t.Managers)
	t.Managers = slices.Compact(t.Managers)
	if t.Refused != "" {
		return t, nil, nil
	}
	if isScaled(live) {
		copyField(wanted.Object.(*unstructured.Unstructured).Object, live.Object, replicasPath)
	}
	kind, patch, err := driftPatch(&wanted, live)
	if err != nil {
		return nil, nil, err
	}
	result := live
	if patch != nil {
		if result, err = r.patch(ctx, &wanted, kind, patch, true); apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
			t.Refused = "the API server refuses the change: " + err.Error()
			return t, nil, nil
		} else if err != nil {
			return nil, nil, err
		}
	}
	claimed := withOwnership(live, wanted.Object.(*unstructured.Unstructured))
	t.Fields = differentFields(claimed, result)
	a, err := newAdoption(info, live, claimed, result)
	return t, a, err
}

// refusal returns why a live object isn't taken over, or "".
func (r *Release) refusal(ctx context.Context, wanted *resource.Info, live *unstructured.Unstructured) (string, error) {
	annotations := live.GetAnnotations()
	switch {
	case wanted.Namespaced() && wanted.Namespace != r.namespace:
		return "is in another namespace than the release", nil
	case live.GetDeletionTimestamp() != nil:
		return "is being deleted", nil
	case isKept(live) && !isKept(wanted.Object.(*unstructured.Unstructured)):
		return "has the annotation " + policyAnnotation + ": " + policyKeep + ", which the chart's object lacks", nil
	}
	if !r.owner.owns(live) {
		if kind, key, ok := dependents.AnnotatedOwner(live); ok {
			return fmt.Sprintf("belongs to the custom resource %s %s", kind, key), nil
		}
		for _, reference := range live.GetOwnerReferences() {
			if !r.owner.ownsAny([]metav1.OwnerReference{reference}) {
				return fmt.Sprintf("belongs to %s/%s", reference.Kind, reference.Name), nil
			}
		}
	}
	name, namespace := annotations[releaseAnnotation], annotations[namespaceAnnotation]
	if name != "" && (name != r.name || namespace != r.namespace) {
		exists, err := r.releaseExists(ctx, namespace, name)
		if err != nil {
			return "", err
		}
		if exists {
			return fmt.Sprintf("belongs to the Helm release %s/%s", namespace, name), nil
		}
	}
	others := live.DeepCopy()
	delete(annotations, releaseAnnotation)
	others.SetAnnotations(annotations)
	if manager := managerOf(others); manager != "" && !r.owner.owns(live) {
		return "belongs to " + manager, nil
	}
	return "", nil
}

// releaseExists reports whether a release is recorded in Secrets of a namespace. Without permission to read them, it is assumed.
func (r *Release) releaseExists(ctx context.Context, namespace, name string) (bool, error) {
	if namespace == "" {
		return true, nil
	}
	list, err := r.factory.core.Secrets(namespace).List(ctx, metav1.ListOptions{LabelSelector: "owner=helm,status!=uninstalled,name=" + name, Limit: 1})
	if apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) { // a name that is no label
		return true, nil
	}
	return err == nil && len(list.Items) > 0, err
}

// withOwnership returns a live object with the metadata of ownership that an object of the chart has.
func withOwnership(live, wanted *unstructured.Unstructured) *unstructured.Unstructured {
	owned := live.DeepCopy()
	merge := func(into, from map[string]string, keys ...string) map[string]string {
		if into == nil {
			into = map[string]string{}
		}
		for _, key := range keys {
			if value, ok := from[key]; ok {
				into[key] = value
			}
		}
		return into
	}
	owned.SetLabels(merge(live.GetLabels(), wanted.GetLabels(), managedByLabel, ChartLabel))
	owned.SetAnnotations(merge(live.GetAnnotations(), wanted.GetAnnotations(), releaseAnnotation, namespaceAnnotation, OwnerAnnotation, OwnerTypeAnnotation))
	if references := wanted.GetOwnerReferences(); len(references) > 0 {
		owned.SetOwnerReferences(references)
	}
	return owned
}
