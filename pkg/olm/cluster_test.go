package olm

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/kube"
)

// A cluster answers a client over HTTP like an API server: it stores objects, serves the kinds that definitions define, and
// keeps deleted objects until their finalizers are gone. It has no controllers except settle.
type cluster struct {
	client *kube.Client
	// refuse rejects requests with a status code and a message; 0 lets them pass.
	refuse func(r *http.Request) (code int, message string)
	// settle plays the controllers: it may change an object that was applied. The store is locked.
	settle func(o *kube.Object)

	mutex   sync.Mutex
	kinds   []kube.Resource
	objects map[string]*kube.Object // by their paths
	// changes are the methods and paths of requests that changed something, in order.
	changes []string
	uids    int
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{objects: map[string]*kube.Object{}, settle: func(*kube.Object) {}, refuse: func(*http.Request) (int, string) { return 0, "" }}
	for version, kinds := range map[string]string{
		"v1":                              "-namespaces/Namespace pods/Pod events/Event secrets/Secret configmaps/ConfigMap serviceaccounts/ServiceAccount services/Service",
		"apps/v1":                         "deployments/Deployment replicasets/ReplicaSet",
		"networking.k8s.io/v1":            "networkpolicies/NetworkPolicy",
		"rbac.authorization.k8s.io/v1":    "-clusterroles/ClusterRole -clusterrolebindings/ClusterRoleBinding rolebindings/RoleBinding",
		"apiregistration.k8s.io/v1":       "-apiservices/APIService",
		"admissionregistration.k8s.io/v1": "-validatingwebhookconfigurations/ValidatingWebhookConfiguration -mutatingwebhookconfigurations/MutatingWebhookConfiguration",
		kube.CRDVersion:                   "-customresourcedefinitions/" + kube.CRDKind,
	} {
		for kind := range strings.FieldsSeq(kinds) {
			plural, name, _ := strings.Cut(kind, "/")
			plural, global := strings.CutPrefix(plural, "-")
			c.kinds = append(c.kinds, kube.Resource{APIVersion: version, Name: plural, Kind: name, Namespaced: !global})
		}
	}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.client = clientOf(t, server)
	return c
}

// add stores the objects of a YAML stream as they are.
func (c *cluster) add(t *testing.T, text string) {
	t.Helper()
	objects, err := kube.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, o := range objects {
		c.put(o)
	}
}

// live returns a stored object, nil if there is none.
func (c *cluster) live(kind, namespace, name string) *kube.Object {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, o := range c.objects {
		if o.GetKind() == kind && o.GetNamespace() == namespace && o.GetName() == name {
			return o
		}
	}
	return nil
}

// names returns the kinds and names of all objects, sorted.
func (c *cluster) names() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var names []string
	for _, o := range c.objects {
		names = append(names, kube.FullName(o))
	}
	slices.Sort(names)
	return names
}

// put stores an object. The store must be locked.
func (c *cluster) put(o *kube.Object) {
	if o.GetUID() == "" {
		c.uids++
		o.SetUID(types.UID(fmt.Sprintf("u%d", c.uids)))
	}
	if o.GetKind() == kube.CRDKind {
		if kube.ValueAt(o.Object, "status", "conditions") == nil {
			o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
		}
		for _, version := range kube.ListAt(o.Object, "spec", "versions") {
			r := kube.DefinedBy(o)
			if r.APIVersion = r.Group() + "/" + kube.StringAt(version, "name"); !slices.Contains(c.kinds, r) {
				c.kinds = append(c.kinds, r)
			}
		}
	}
	i := slices.IndexFunc(c.kinds, func(r kube.Resource) bool { return r.APIVersion == o.GetAPIVersion() && r.Kind == o.GetKind() })
	c.objects[pathOf(c.kinds[i], o.GetNamespace(), o.GetName())] = o
}

// rootOf returns the path of a version of a group.
func rootOf(apiVersion string) string {
	if strings.Contains(apiVersion, "/") {
		return "/apis/" + apiVersion
	}
	return "/api/" + apiVersion
}

func pathOf(r kube.Resource, namespace, name string) string {
	if r.Namespaced {
		return rootOf(r.APIVersion) + "/namespaces/" + namespace + "/" + r.Name + "/" + name
	}
	return rootOf(r.APIVersion) + "/" + r.Name + "/" + name
}

// find splits a path into the resource, namespace and name; the latter two may be empty.
func (c *cluster) find(path string) (r kube.Resource, namespace, name string, ok bool) {
	for _, r := range c.kinds {
		rest, ok := strings.CutPrefix(path, rootOf(r.APIVersion)+"/")
		parts, namespace := strings.Split(rest, "/"), ""
		if r.Namespaced && len(parts) > 2 && parts[0] == "namespaces" {
			namespace, parts = parts[1], parts[2:]
		}
		if ok && parts[0] == r.Name && len(parts) <= 2 {
			return r, namespace, strings.Join(parts[1:], ""), true
		}
	}
	return r, "", "", false
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if code, message := c.refuse(r); code != 0 {
		reject(w, code, message)
		return
	}
	if list := c.discovery(r.URL.Path); list != nil {
		respond(w, list)
		return
	}
	resource, namespace, name, ok := c.find(r.URL.Path)
	switch {
	case !ok:
		reject(w, http.StatusNotFound, "no such path")
	case name == "":
		respond(w, c.list(resource, namespace, r.URL.Query()))
	default:
		c.object(w, r, pathOf(resource, namespace, name))
	}
}

// object answers a request about one object.
func (c *cluster) object(w http.ResponseWriter, r *http.Request, path string) {
	o := c.objects[path]
	apply := r.Header.Get("Content-Type") == kube.ApplyPatch
	dry := r.URL.Query().Get("dryRun") != ""
	if o == nil && !apply {
		reject(w, http.StatusNotFound, "not found")
		return
	}
	if r.Method != http.MethodGet && !dry {
		c.changes = append(c.changes, r.Method+" "+path)
	}
	switch {
	case r.Method == http.MethodPatch:
		patch := map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
			reject(w, http.StatusBadRequest, err.Error())
			return
		}
		if dry {
			break
		}
		if o == nil {
			o = &kube.Object{Object: map[string]any{}}
		}
		o = o.DeepCopy()
		merge(o.Object, patch)
		c.put(o)
		if apply {
			c.settle(o)
		}
		c.collect()
	case r.Method == http.MethodDelete:
		markDeleted(o)
		c.collect()
	}
	respond(w, o)
}

// merge applies a JSON merge patch.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		old, wasMap := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap && wasMap:
			merge(old, inner)
		default:
			into[key] = value
		}
	}
}

func markDeleted(o *kube.Object) {
	if o.GetDeletionTimestamp() == nil {
		o.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	}
}

// collect removes deleted objects without finalizers, and what namespaces and definitions contain before them.
func (c *cluster) collect() {
	for again := true; again; {
		again = false
		for path, o := range c.objects {
			if o.GetDeletionTimestamp() == nil {
				continue
			}
			within := func(other *kube.Object) bool {
				defined := kube.DefinedBy(o)
				return o.GetKind() == "Namespace" && other.GetNamespace() == o.GetName() ||
					o.GetKind() == kube.CRDKind && other.GetKind() == defined.Kind && strings.HasPrefix(other.GetAPIVersion(), defined.Group()+"/")
			}
			empty := true
			for _, other := range c.objects {
				if within(other) {
					again = again || other.GetDeletionTimestamp() == nil
					markDeleted(other)
					empty = false
				}
			}
			if empty && len(o.GetFinalizers()) == 0 {
				delete(c.objects, path)
				again = true
			}
		}
	}
}

// discovery returns the groups, or the resources of a version; nil for other paths.
func (c *cluster) discovery(path string) any {
	versions := map[string]bool{}
	resources := []map[string]any{}
	for _, r := range c.kinds {
		versions[r.APIVersion] = true
		if rootOf(r.APIVersion) == path {
			resources = append(resources, map[string]any{"name": r.Name, "kind": r.Kind, "namespaced": r.Namespaced, "verbs": []string{"list", "delete"}})
		}
	}
	if path == "/apis" {
		groups := []map[string]any{}
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			if version != "v1" {
				groups = append(groups, map[string]any{"preferredVersion": map[string]any{"groupVersion": version}})
			}
		}
		return map[string]any{"groups": groups}
	}
	if len(resources) == 0 {
		return nil
	}
	return map[string]any{"resources": resources}
}

// list returns the objects of a resource that selectors of labels, names and service accounts select.
func (c *cluster) list(r kube.Resource, namespace string, query url.Values) any {
	selector, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return map[string]any{"kind": "Status"}
	}
	field, value, _ := strings.Cut(query.Get("fieldSelector"), "=")
	items := []any{}
	for _, path := range slices.Sorted(maps.Keys(c.objects)) {
		o := c.objects[path]
		at := kube.StringAt(o.Object, strings.Split(field, ".")...)
		if o.GetAPIVersion() == r.APIVersion && o.GetKind() == r.Kind && (namespace == "" || o.GetNamespace() == namespace) &&
			selector.Matches(labels.Set(o.GetLabels())) && (field == "" || strings.Contains(value, ",") || at == value) {
			items = append(items, o.Object)
		}
	}
	return map[string]any{"kind": r.Kind + "List", "items": items}
}

func respond(w http.ResponseWriter, content any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(content)
}

// reject responds with an error of the API server.
func reject(w http.ResponseWriter, code int, message string) {
	reason := map[int]metav1.StatusReason{
		http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
	}[code]
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: reason, Message: message, Code: int32(code), //nolint:gosec // HTTP statuses
	})
}
