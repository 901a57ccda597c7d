package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A target is the resource that a request addresses.
type target struct {
	schema.GroupVersionResource
	// namespace and name are empty for requests that address all objects, and namespace for cluster-scoped objects.
	namespace, name string
	subresource     string
	isWatch         bool
}

func (t target) objectKey() objectKey {
	return objectKey{t.GroupResource(), types.NamespacedName{Namespace: t.namespace, Name: t.name}}
}

// parseTarget returns the target of a path; ok is false if the path doesn't name a resource.
func parseTarget(path string) (t target, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		t.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		t.Group, t.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return t, false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		// The form of watches before the parameter.
		t.isWatch, parts = true, parts[1:]
	}
	if parts[0] == "namespaces" {
		isNamespace := len(parts) < 3 || t.Group == "" && len(parts) == 3 && (parts[2] == "status" || parts[2] == "finalize")
		if !isNamespace {
			t.namespace, parts = parts[1], parts[2:]
		}
	}
	t.Resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = strings.Join(parts[2:], "/")
	}
	return t, true
}

// isWatch reports whether a request asks for changes of objects.
func isWatch(r *http.Request) bool {
	query := r.URL.Query()
	return query.Has("watch") && query.Get("watch") != "false" && query.Get("watch") != "0"
}

// isDryRun reports whether a request changes nothing. A deletion can ask for a dry run in its body.
func isDryRun(x *exchange) (bool, error) {
	r := x.request
	if r.URL.Query().Has("dryRun") {
		return true, nil
	}
	if r.Method != http.MethodDelete || !x.isResource || x.target.subresource != "" || r.Header.Get("Content-Encoding") != "" {
		return false, nil
	}
	data, err := readBody(r)
	return len(parseDeleteOptions(data).DryRun) > 0, err
}

// parseDeleteOptions returns the options in the body of a deletion; none if it is not valid, which the API server reports.
func parseDeleteOptions(data []byte) (options metav1.DeleteOptions) {
	var unknown runtime.Unknown
	if binary, ok := bytes.CutPrefix(data, protobufPrefix); ok {
		if unknown.Unmarshal(binary) != nil || options.Unmarshal(unknown.Raw) != nil {
			return metav1.DeleteOptions{}
		}
	} else if converted, err := safeyaml.ToJSON(data); err != nil || json.Unmarshal(converted, &options) != nil {
		return metav1.DeleteOptions{}
	}
	return options
}

// isUpgrade reports whether a request changes the protocol of its connection.
func isUpgrade(r *http.Request) bool {
	for _, value := range r.Header.Values("Connection") {
		for option := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(option), "upgrade") {
				return true
			}
		}
	}
	return false
}
