package node

import (
	"bytes"
	"embed"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed files
var files embed.FS

// settings are what the processes inside of the namespaces are told, and what the files of the node are made from.
type settings struct {
	// Name is the node's, its host name, and that of its control groups. Dir is its folder as seen from inside,
	// HostDir as seen from outside.
	Name, Dir, HostDir string
	// Assets is the folder of the control plane's programs, Programs that of the node's own, as seen from outside.
	Assets, Programs string
	// Address is the node's, Gateway the machine's on the link between them; Link is the name of its end.
	Address, Gateway, Link string
	// Registry is the address of the registry, with its port.
	Registry string
	// PluginDir holds the network plugins, Snapshotter is how containerd stacks layers.
	PluginDir, Snapshotter string
}

// What is the same for all nodes: each has a network of its own.
const (
	insideDir        = "/run/operon"
	assetsDir        = "/run/operon-assets"
	programsDir      = "/run/operon-programs"
	egressSocket     = "/run/egress.sock"
	containerdSocket = "/run/containerd/containerd.sock"
	podRange         = "10.244.0.0/16"
	serviceRange     = "10.96.0.0/16" // as the control plane has it
	dnsAddress       = "10.96.0.10"
	registryPort     = "5000"
	kubeconfigFile   = "kubeconfig"
)

// PauseImage is the image of the process that holds a pod's namespaces. Whoever starts a node puts it into the
// node's registry.
const PauseImage = "registry.k8s.io/pause:3.10"

func (s settings) ContainerdSocket() string { return containerdSocket }
func (s settings) PauseImage() string       { return PauseImage }
func (s settings) EgressSocket() string     { return egressSocket }
func (s settings) PodRange() string         { return podRange }
func (s settings) DNSAddress() string       { return dnsAddress }
func (s settings) CgroupRoot() string       { return "/" + s.Name }

// write writes one of the files of the node. Some name a file with the certificate authority.
func (s settings) write(name, path string, caFile string) error {
	t, err := template.New(name).ParseFS(files, "files/"+name)
	if err != nil {
		return err
	}
	data := struct {
		settings
		CAFile string
	}{s, caFile}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}
