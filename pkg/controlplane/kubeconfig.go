package controlplane

import "sigs.k8s.io/yaml"

// marshalKubeconfig returns a kubeconfig with one cluster, user and context, all named operon. The types of client-go belong to
// pkg/kube.
func marshalKubeconfig(url string, caPEM []byte, token string) ([]byte, error) {
	const name = "operon"
	type fields map[string]any
	return yaml.Marshal(fields{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []fields{{"name": name, "cluster": fields{"certificate-authority-data": caPEM, "server": url}}},
		"contexts": []fields{{"name": name, "context": fields{"cluster": name, "namespace": "default", "user": name}}},
		"users":    []fields{{"name": name, "user": fields{"token": token}}},
	})
}
