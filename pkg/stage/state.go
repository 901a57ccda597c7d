package stage

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Normalize returns copies of objects in the order of their kinds and names, without what differs between two runs of the same steps:
// UIDs, versions, times, managed fields, and addresses and ports that the cluster has chosen. Generated names are numbered in the order of
// creation for each prefix, also where an object refers to another one among all. The content of Secrets is replaced by its length. What a
// cluster adds to each namespace, Events, and Leases are left out.
func Normalize(objects, all []*kube.Object) []*kube.Object {
	objects = slices.DeleteFunc(slices.Clone(objects), IsIncidental)
	all = slices.SortedStableFunc(slices.Values(all), func(a, b *kube.Object) int {
		created := a.GetCreationTimestamp()
		return cmp.Or(created.Compare(b.GetCreationTimestamp().Time), compareNames(a, b))
	})
	n := normalizer{names: map[string]string{}}
	n.nameAll(all)
	normalized := make([]*kube.Object, len(objects))
	for i, o := range objects {
		normalized[i] = n.normalize(o)
	}
	slices.SortStableFunc(normalized, compareNames)
	return normalized
}

func compareNames(a, b *kube.Object) int {
	return cmp.Or(
		cmp.Compare(a.GroupVersionKind().Group, b.GroupVersionKind().Group), cmp.Compare(a.GetKind(), b.GetKind()),
		cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()),
	)
}

// IsIncidental reports whether an object isn't part of the state: a cluster adds or changes it by itself.
func IsIncidental(o *kube.Object) bool {
	switch o.GetKind() {
	case "Event", "Lease", "EndpointSlice", "Endpoints", "ControllerRevision":
		return true
	case "ConfigMap":
		return o.GetName() == "kube-root-ca.crt"
	case "ServiceAccount":
		return o.GetName() == "default"
	case "APIService":
		return o.GetLabels()["kube-aggregator.kubernetes.io/automanaged"] != ""
	}
	return false
}

// A normalizer replaces what differs between runs.
type normalizer struct {
	// names are the replacements of generated names and UIDs.
	names map[string]string
	// replacer replaces them in texts.
	replacer *strings.Replacer
}

// nameAll chooses the replacements for objects in the order of their creation.
func (n *normalizer) nameAll(objects []*kube.Object) {
	count := map[string]int{}
	for _, o := range objects {
		if uid := string(o.GetUID()); uid != "" {
			n.names[uid] = "UID"
		}
		prefix := o.GetGenerateName()
		if prefix == "" || !strings.HasPrefix(o.GetName(), prefix) {
			continue
		}
		key := o.GetKind() + " " + o.GetNamespace() + "/" + prefix
		count[key]++
		n.names[o.GetName()] = fmt.Sprintf("%s%d", prefix, count[key])
	}
	// Longer names first, as a name can be the prefix of another one.
	var pairs []string
	for _, name := range slices.SortedFunc(maps.Keys(n.names), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	}) {
		pairs = append(pairs, name, n.names[name])
	}
	n.replacer = strings.NewReplacer(pairs...)
}

// normalize returns a normalized copy of an object.
func (n *normalizer) normalize(o *kube.Object) *kube.Object {
	o = o.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "generateName", "deletionGracePeriodSeconds"} {
		if metadata, ok := o.Object["metadata"].(map[string]any); ok {
			delete(metadata, field)
		}
	}
	switch o.GetKind() {
	case "Secret":
		hideData(o.Object)
	case "Service":
		dropAddresses(o.Object)
	case "Pod":
		dropPlaces(o.Object)
	case "PersistentVolumeClaim":
		dropFields(o.Object["spec"], "volumeName")
	}
	o.Object = n.value("", o.Object).(map[string]any)
	return o
}

// hideData replaces the content of a Secret by its length.
func hideData(secret map[string]any) {
	data, _ := secret["data"].(map[string]any)
	for key, value := range data {
		text, _ := value.(string)
		decoded, _ := base64.StdEncoding.DecodeString(text)
		data[key] = fmt.Sprintf("%d bytes", len(decoded))
	}
}

func dropAddresses(service map[string]any) {
	spec := service["spec"]
	if kube.StringAt(spec, "clusterIP") != "None" {
		dropFields(spec, "clusterIP", "clusterIPs")
	}
	dropFields(spec, "healthCheckNodePort")
	for _, port := range kube.ListAt(spec, "ports") {
		dropFields(port, "nodePort")
	}
}

func dropPlaces(pod map[string]any) {
	dropFields(pod["spec"], "nodeName")
	dropFields(pod["status"], "podIP", "podIPs", "hostIP", "hostIPs")
	for _, list := range []string{"containerStatuses", "initContainerStatuses"} {
		for _, status := range kube.ListAt(pod["status"], list) {
			dropFields(status, "containerID", "imageID")
		}
	}
}

func dropFields(v any, names ...string) {
	fields, _ := v.(map[string]any)
	for _, name := range names {
		delete(fields, name)
	}
}

// tokenVolume is the name of the volume that each pod gets for its service account's token.
var tokenVolume = lazyregexp.New(`^kube-api-access-[a-z0-9]{5}$`)

// value normalizes the value of a field.
func (n *normalizer) value(field string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if isVersion(key) {
				delete(v, key)
				continue
			}
			v[key] = n.value(key, value)
		}
		return v
	case []any:
		for i, value := range v {
			v[i] = n.value(field, value)
		}
		return v
	case string:
		return n.text(field, v)
	}
	return v
}

// isVersion reports whether a field counts changes.
func isVersion(field string) bool {
	return field == "observedGeneration" || field == "resourceVersion"
}

func (n *normalizer) text(field, text string) string {
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return "TIME"
	}
	switch {
	case tokenVolume.MatchString(text):
		return "kube-api-access"
	case field == "caBundle":
		return "CERTIFICATES"
	}
	return n.replacer.Replace(text)
}
