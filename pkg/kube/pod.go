package kube

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
)

// A Pod describes the pod that the program runs in.
type Pod struct {
	// Host and Port are the API server's, from KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.
	Host, Port string
	// Dir is the directory of the service account's files: token, ca.crt and namespace.
	Dir string
	// Namespace is that of the client; empty for the service account's.
	Namespace string
}

// LoadPod returns a client for the cluster that the program runs in. It opens no connection. The client reads the token again, as
// clusters replace it.
func LoadPod(p Pod) (*Client, error) {
	token := filepath.Join(p.Dir, "token")
	if _, err := os.ReadFile(token); err != nil {
		return nil, fmt.Errorf("reading the pod's service account: %w", err)
	}
	client, err := newClient(&rest.Config{
		Host: "https://" + net.JoinHostPort(p.Host, p.Port), BearerTokenFile: token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(p.Dir, "ca.crt")},
	})
	if err != nil {
		return nil, fmt.Errorf("reading the pod's service account: %w", err)
	}
	client.Namespace = p.Namespace
	if client.Namespace == "" {
		text, err := os.ReadFile(filepath.Join(p.Dir, "namespace"))
		if err != nil {
			return nil, fmt.Errorf("reading the pod's service account: %w", err)
		}
		client.Namespace = strings.TrimSpace(string(text))
	}
	return client, nil
}
