package controlplane

import "sigs.k8s.io/yaml"

// kubeconfig is the part of a kubeconfig that a token needs; client-go belongs to pkg/kube.
type kubeconfig struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	Clusters       []namedCluster `json:"clusters"`
	Contexts       []namedContext `json:"contexts"`
	CurrentContext string         `json:"current-context"`
	Users          []namedUser    `json:"users"`
}

type namedCluster struct {
	Name    string `json:"name"`
	Cluster struct {
		CertificateAuthorityData []byte `json:"certificate-authority-data"`
		Server                   string `json:"server"`
	} `json:"cluster"`
}

type namedContext struct {
	Name    string `json:"name"`
	Context struct {
		Cluster   string `json:"cluster"`
		Namespace string `json:"namespace"`
		User      string `json:"user"`
	} `json:"context"`
}

type namedUser struct {
	Name string `json:"name"`
	User struct {
		Token string `json:"token"`
	} `json:"user"`
}

// marshalKubeconfig returns a kubeconfig with one cluster, user and context, all named operon.
func marshalKubeconfig(url string, caPEM []byte, token string) ([]byte, error) {
	const name = "operon"
	cluster, context, user := namedCluster{Name: name}, namedContext{Name: name}, namedUser{Name: name}
	cluster.Cluster.CertificateAuthorityData = caPEM
	cluster.Cluster.Server = url
	context.Context.Cluster = name
	context.Context.Namespace = "default"
	context.Context.User = name
	user.User.Token = token
	return yaml.Marshal(kubeconfig{
		APIVersion: "v1", Kind: "Config", CurrentContext: name,
		Clusters: []namedCluster{cluster}, Contexts: []namedContext{context}, Users: []namedUser{user},
	})
}
