package gateway

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
)

// A Request describes a request in the terms of Kubernetes.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection, or the lower-case method of a request without a
	// resource.
	Verb string
	// Group, Version and Resource are empty for requests without a resource, such as /readyz and discovery.
	Group, Version, Resource, Subresource string
	// Name is also known for objects that are created.
	Namespace, Name string
	DryRun          bool
	// FieldManager is the parameter of a write. Without it, the API server uses the user agent.
	FieldManager string
	// BaseVersion is the resource version in the body of an update or a patch: the API server refuses it for any other version.
	BaseVersion string
	// Path is the path of the URL, and Query its parameters.
	Path, Query string
}

// GroupResource returns the resource with its group and subresource, such as deployments.apps/status. It is the first two elements
// of the path for requests without a resource.
func (r Request) GroupResource() string {
	if r.Resource == "" {
		parts := strings.Split(strings.Trim(r.Path, "/"), "/")
		return "/" + strings.Join(parts[:min(len(parts), 2)], "/")
	}
	name := r.Resource
	if r.Group != "" {
		name += "." + r.Group
	}
	if r.Subresource != "" {
		name += "/" + r.Subresource
	}
	return name
}

// Object returns the resource without subresource, the namespace and the name.
func (r Request) Object() string {
	r.Subresource = ""
	return r.GroupResource() + " " + r.Namespace + "/" + r.Name
}

func (r Request) String() string {
	if r.Resource == "" {
		return r.Verb + " " + r.Path
	}
	text := r.Verb + " " + r.GroupResource() + " " + r.Namespace + "/" + r.Name
	if r.DryRun {
		text += " (dry run)"
	}
	return text
}

// IsWrite reports whether the request changes objects.
func (r Request) IsWrite() bool {
	switch r.Group {
	case "authentication.k8s.io", "authorization.k8s.io": // reviews
		return false
	}
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return r.Resource != "" && !r.DryRun
	}
	return false
}

// maxBody is the maximum size of a request's body that is read to find the name and the version of an object.
const maxBody = 4 << 20

// parseRequest describes a request. It reads the body of those that create or change objects, and replaces it.
func parseRequest(r *http.Request) (Request, error) {
	query := r.URL.Query()
	request := Request{Path: r.URL.Path, Query: r.URL.RawQuery, FieldManager: query.Get("fieldManager"), DryRun: query.Has("dryRun")}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		request.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		request.Group, request.Version, parts = parts[1], parts[2], parts[3:]
	default:
		request.Verb = strings.ToLower(r.Method)
		return request, nil
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		request.Namespace, parts = parts[1], parts[2:]
	}
	for i, into := range []*string{&request.Resource, &request.Name, &request.Subresource} {
		if i < len(parts) {
			*into = parts[i]
		}
	}
	watch := query.Get("watch")
	request.Verb = verb(r.Method, request.Name != "", watch == "true" || watch == "1")
	changes := request.Verb == "update" || request.Verb == "patch"
	if !changes && (request.Verb != "create" || request.Name != "") || r.Body == nil {
		return request, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return request, err
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	metadata := decode(body).Metadata
	if changes {
		request.BaseVersion = metadata.ResourceVersion
	} else {
		request.Name = metadata.Name
	}
	return request, nil
}

// field returns the first field of a protobuf message with a number, if it has a length; nil otherwise.
func field(message []byte, number uint64) []byte {
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		if n <= 0 {
			return nil
		}
		message = message[n:]
		value, n := binary.Uvarint(message) // a number, or a length
		if n <= 0 {
			return nil
		}
		message = message[n:]
		switch wireType := key & 7; {
		case wireType == 0:
			continue
		case wireType != 2 || value > uint64(len(message)):
			return nil
		case key>>3 == number:
			return message[:value]
		}
		message = message[value:]
	}
	return nil
}

func verb(method string, named, watch bool) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case watch:
			return "watch"
		case named:
			return "get"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodDelete:
		if !named {
			return "deletecollection"
		}
	}
	return strings.ToLower(method)
}
