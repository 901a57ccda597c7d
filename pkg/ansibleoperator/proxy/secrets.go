package proxy

import (
	"encoding/json"
	"mime"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// reportsSecrets reports whether the bodies of an exchange are Secrets that have to be reported to the run.
func (x *exchange) reportsSecrets() bool {
	t := x.target
	return x.run.settings.Secret != nil && x.isResource && t.Group == "" && t.Resource == "secrets" && t.subresource == "" && !t.isWatch
}

// reportSent reports the Secrets in the body of a request. The API server can quote them in the message of an error.
func (p *Proxy) reportSent(x *exchange) error {
	if !x.reportsSecrets() || x.request.Method == http.MethodGet || x.request.Header.Get("Content-Encoding") != "" {
		return nil
	}
	data, err := readBody(x.request)
	if err == nil {
		x.reportSecrets(x.request.Header.Get("Content-Type"), data)
	}
	return err
}

// reportSecrets reports the Secrets in a body, which can be a list.
func (x *exchange) reportSecrets(contentType string, data []byte) {
	var object map[string]any
	if json.Unmarshal(secretJSON(contentType, data), &object) != nil {
		return
	}
	items, isList := object["items"].([]any)
	if !isList {
		items = []any{object}
	}
	for _, item := range items {
		if secret, ok := item.(map[string]any); ok {
			x.run.settings.Secret(secret)
		}
	}
}

// secretJSON returns a body with Secrets as JSON; nothing if it is not one.
func secretJSON(contentType string, data []byte) []byte {
	switch media, _, _ := mime.ParseMediaType(contentType); media {
	case "application/yaml", applyPatch:
		converted, err := safeyaml.ToJSON(data)
		if err != nil {
			return nil // The API server reports it.
		}
		return converted
	case protobufType:
		object, _, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
		if err != nil {
			return nil
		}
		switch object.(type) {
		case *corev1.Secret, *corev1.SecretList:
			converted, err := json.Marshal(object)
			if err == nil {
				return converted
			}
		}
		return nil
	}
	return data
}
