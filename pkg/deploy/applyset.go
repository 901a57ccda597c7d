package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// The labels and annotations of ApplySets, from KEP-3659.
const (
	partOfLabel          = "applyset.kubernetes.io/part-of"
	idLabel              = "applyset.kubernetes.io/id"
	toolingAnnotation    = "applyset.kubernetes.io/tooling"
	kindsAnnotation      = "applyset.kubernetes.io/contains-group-kinds"
	namespacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
)

// tooling is the program and the version of its format of ApplySets.
const tooling = kube.Manager + "/v1"

// A set is what was deployed from one project in one namespace.
type set struct {
	client *kube.Client
	// name and namespace are those of the ConfigMap that is the parent of the set.
	name, namespace string
	// live is the parent in the cluster, or nil.
	live *kube.Object
}

// readSet reads the set of a project in a namespace.
func readSet(ctx context.Context, client *kube.Client, project, namespace string) (*set, error) {
	s := &set{client: client, name: kube.Manager + "-" + project, namespace: namespace}
	var err error
	s.live, err = client.Get(ctx, kube.Named("v1", "ConfigMap", namespace, s.name))
	return s, err
}

// id returns the ID of the set. It depends only on the parent's name, namespace and kind.
func (s *set) id() string {
	sum := sha256.Sum256([]byte(s.name + "." + s.namespace + ".ConfigMap."))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// add marks an object as a member.
func (s *set) add(o *kube.Object) {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[partOfLabel] = s.id()
	o.SetLabels(labels)
}

// parent returns the parent of a set with members.
func (s *set) parent(members []*kube.Object) *kube.Object {
	kinds, namespaces := map[string]bool{}, map[string]bool{}
	for _, o := range members {
		if o.GetLabels()[idLabel] != "" {
			continue // the parent itself
		}
		kinds[groupKind(o)] = true
		if namespace := o.GetNamespace(); namespace != "" && namespace != s.namespace {
			namespaces[namespace] = true
		}
	}
	annotations := map[string]string{
		toolingAnnotation: tooling,
		kindsAnnotation:   strings.Join(slices.Sorted(maps.Keys(kinds)), ","),
	}
	if len(namespaces) > 0 {
		annotations[namespacesAnnotation] = strings.Join(slices.Sorted(maps.Keys(namespaces)), ",")
	}
	parent := kube.Named("v1", "ConfigMap", s.namespace, s.name)
	parent.SetLabels(map[string]string{idLabel: s.id()})
	parent.SetAnnotations(annotations)
	return parent
}

// members returns the members of the set in the cluster.
func (s *set) members(ctx context.Context) (members []*kube.Object, err error) {
	if s.live == nil {
		return nil, nil
	}
	served, _, err := s.client.Resources(ctx)
	if err != nil {
		return nil, err
	}
	kinds := listed(s.live, kindsAnnotation)
	namespaces := append(listed(s.live, namespacesAnnotation), s.namespace)
	query := url.Values{"labelSelector": {partOfLabel + "=" + s.id()}}
	for _, r := range served {
		if !slices.Contains(kinds, kindOf(r.Kind, r.Group())) {
			continue
		}
		in := namespaces
		if !r.Namespaced {
			in = []string{""}
		}
		for _, namespace := range in {
			found, err := s.client.ListNames(ctx, r, namespace, query)
			if err != nil {
				return nil, err
			}
			for _, o := range found {
				if len(o.GetOwnerReferences()) == 0 { // controllers copy labels to what they create
					members = append(members, o)
				}
			}
		}
	}
	return members, nil
}

// listed returns the items of an annotation.
func listed(o *kube.Object, annotation string) []string {
	return slices.DeleteFunc(strings.Split(o.GetAnnotations()[annotation], ","), func(item string) bool { return item == "" })
}

// otherSet returns an ID if an object belongs to another set. Definitions and namespaces can be shared.
func (s *set) otherSet(o *kube.Object) string {
	id := o.GetLabels()[partOfLabel]
	if id == s.id() || isKind(o, kube.CRDKind, "Namespace") {
		return ""
	}
	return id
}

// groupKind returns the kind of an object as in the annotation of ApplySets, such as Deployment.apps.
func groupKind(o *kube.Object) string {
	group := kube.Resource{APIVersion: o.GetAPIVersion()}.Group()
	return kindOf(o.GetKind(), group)
}

func kindOf(kind, group string) string {
	if group == "" {
		return kind
	}
	return kind + "." + group
}

// identity identifies an object, whatever version of its kind it has.
func identity(o *kube.Object) string {
	return fmt.Sprintf("%s %s/%s", groupKind(o), o.GetNamespace(), o.GetName())
}

func isKind(o *kube.Object, kinds ...string) bool { return slices.Contains(kinds, o.GetKind()) }
