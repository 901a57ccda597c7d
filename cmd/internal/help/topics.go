package help

import "github.com/spf13/cobra"

// Topics returns commands without an action of their own: 'help NAME' prints their texts.
func Topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "environment", Short: "List the environment variables that are read", Long: Environment},
		{Use: "exit-codes", Short: "Describe the exit codes", Long: exitCodesHelp},
	}
}

// Environment lists the environment variables that are read.
const Environment = `Flags take precedence over environment variables.

Output:
  NO_COLOR               any value disables colors
  TERM                   dumb disables colors and cursor movement
  GITHUB_ACTIONS         true prints errors and warnings as annotations, with
                         paths in GITHUB_WORKSPACE

Files:
  HOME, USERPROFILE      home directory
  XDG_CACHE_HOME         directory of caches (Linux; default: ~/.cache)
  XDG_STATE_HOME         directory of locks and records of interrupted commands
                         (default: ~/.local/state; see docs/security.md)
  CI                     any value but false: 'run local', 'test', 'render' and
                         'test behavior' don't ask before they run a project's
                         code for the first time
  OPERON_ALLOW_REMOTE_RESOURCES
                         true is --allow-remote-resources for all commands
  OPERON_MIRROR          directory or https URL to read the control plane from,
                         instead of the release of this program
  OPERATOR_BUNDLE_CATEGORIES
                         JSON file with the categories that 'bundle validate'
                         accepts (default: those of OperatorHub.io)
  TMPDIR                 directory of temporary files
  SOURCE_DATE_EPOCH      time of generated files and images, in seconds since
                         1970, for reproducible results

Go:
  PATH                   directories of the go command and other programs
  GOFLAGS, GOPROXY, …    all variables of 'go help environment' apply to the go
                         command
  GOPATH                 init derives the module path from it
  GOGC, GOMEMLIMIT       garbage collection of Operon itself (default: 200,
                         400MiB)

Ansible:
  ANSIBLE_ROLES_PATH, ANSIBLE_COLLECTIONS_PATH, ANSIBLE_…
                         'run local' passes Ansible's variables to it
  ANSIBLE_CONFIG         settings of ansible-galaxy for 'image build'
  VIRTUAL_ENV            virtual environment with the Python for modules

Clusters:
  KUBECONFIG             kubeconfig files
  KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, POD_NAMESPACE
                         cluster and namespace, in a pod
  KUBEBUILDER_ASSETS     directory with the etcd and kube-apiserver to use;
                         'run local', 'test', 'test behavior' and 'render' use
                         it if it also has kube-controller-manager and
                         kube-scheduler
  KUBEBUILDER_CONTROLPLANE_START_TIMEOUT, KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT
                         how long the Go tests of 'test' wait for a control
                         plane (default: 3m)
  ENVTEST_INSTALLED_ONLY, ENVTEST_USE_ENV
                         defaults of flags of 'tool setup-envtest'

Registries:
  REGISTRY_AUTH_FILE     file with credentials
  DOCKER_CONFIG          directory of Docker's config.json (default: ~/.docker)
  XDG_RUNTIME_DIR, XDG_CONFIG_HOME
                         directories of containers/auth.json, and of
                         containers/registries.conf
  CONTAINERS_REGISTRIES_CONF
                         configuration file of registries
  HTTP_PROXY, HTTPS_PROXY, NO_PROXY
                         proxies, in upper or lower case
  SSL_CERT_FILE, SSL_CERT_DIR
                         certificate authorities (not on macOS and Windows)
`

const exitCodesHelp = `All commands exit with one of these codes:

  0   The command succeeded.
  1   The command could not do its work because of the state of the project or
      its surroundings: files, programs, the network, a registry or a cluster.
      Commands that check something exit with 1 if they find problems: --check,
      'bundle validate', 'catalog validate', 'scorecard' and 'olm status'. So
      does an interrupted command.
  2   The command was called incorrectly: an unknown command or flag, or an
      invalid value or name.

'tool' exits with the code of the tool.
`
