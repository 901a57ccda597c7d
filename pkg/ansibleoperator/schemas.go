package ansibleoperator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

const (
	// maxSchemaBytes limits the OpenAPI document of a group.
	maxSchemaBytes = 32 << 20
	schemaTimeout  = 20 * time.Second
)

// schemas reads the schemas of kinds from the OpenAPI documents of the API server, which all of its users may read, other than CRDs.
type schemas struct {
	base   *url.URL
	client *http.Client
	log    logr.Logger

	mu    sync.Mutex
	known map[schema.GroupVersionKind]*knownSchema
}

// A knownSchema is a schema that was read, with the tag of the version of its document.
type knownSchema struct {
	tag    string
	schema *apiextensionsv1.JSONSchemaProps
	logged bool
}

func newSchemas(config *rest.Config, httpClient *http.Client, log logr.Logger) (*schemas, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	return &schemas{base: base, client: httpClient, log: log, known: map[schema.GroupVersionKind]*knownSchema{}}, nil
}

// of returns the schema of a kind, or nil if the server has none or doesn't let it be read. A document that has not changed is not read again.
func (s *schemas) of(ctx context.Context, gvk schema.GroupVersionKind) (*apiextensionsv1.JSONSchemaProps, error) {
	s.mu.Lock()
	known := s.known[gvk]
	if known == nil {
		known = &knownSchema{}
		s.known[gvk] = known
	}
	current := *known
	s.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	document := s.base.JoinPath("openapi/v3/apis", gvk.Group, gvk.Version)
	if gvk.Group == "" {
		document = s.base.JoinPath("openapi/v3/api", gvk.Version)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, document.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if current.tag != "" {
		request.Header.Set("If-None-Match", current.tag)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", gvk.Kind, err)
	}
	defer func() { _ = response.Body.Close() }() // it was read, or is not of interest
	switch {
	case response.StatusCode == http.StatusNotModified:
		return current.schema, nil
	case response.StatusCode == http.StatusOK:
		found, err := readSchema(io.LimitReader(response.Body, maxSchemaBytes), gvk)
		if err != nil {
			return nil, fmt.Errorf("reading the schema of %s: %w", gvk.Kind, err)
		}
		current = knownSchema{tag: response.Header.Get("ETag"), schema: found}
	case response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests:
		return nil, fmt.Errorf("reading the schema of %s: %s", gvk.Kind, response.Status)
	default:
		if !current.logged {
			s.log.Info("the keys of all maps in the spec are converted to snake case, as its schema cannot be read", "kind", gvk.Kind, "status", response.Status)
		}
		current = knownSchema{logged: true}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[gvk] = &current
	return current.schema, nil
}

// readSchema returns the schema of a kind in an OpenAPI document, or nil.
func readSchema(r io.Reader, gvk schema.GroupVersionKind) (*apiextensionsv1.JSONSchemaProps, error) {
	var document struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.NewDecoder(r).Decode(&document); err != nil {
		return nil, err
	}
	for _, raw := range document.Components.Schemas {
		var described struct {
			Kinds []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
		}
		if json.Unmarshal(raw, &described) != nil || len(described.Kinds) != 1 || described.Kinds[0] != gvk {
			continue
		}
		var found apiextensionsv1.JSONSchemaProps
		if err := json.Unmarshal(raw, &found); err != nil {
			return nil, err
		}
		return &found, nil
	}
	return nil, nil
}
