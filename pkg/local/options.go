package local

import (
	"context"
	"net/http"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
)

// The control planes that Options.ControlPlane selects: the cluster of the kubeconfig, one that Run starts, or the former if it can be
// reached.
const (
	PlaneAuto       = "auto"
	PlaneEmbedded   = "embedded"
	PlaneKubeconfig = "kubeconfig"
)

// Options are the options of Run.
type Options struct {
	// Root is the project's directory, Config its PROJECT file. With Manifests, they are the directory of the Program, and empty.
	Root   string
	Config *project.Config
	// StateDirs are the candidates for the user's state directory, as of userstate.Dirs. Name distinguishes the run from others of
	// the project; empty is the one whose control plane KubectlEnviron finds.
	StateDirs []string
	Name      string
	// ControlPlane is PlaneAuto, PlaneEmbedded or PlaneKubeconfig. Locator finds the cluster of the kubeconfig.
	ControlPlane string
	Locator      kube.Locator
	// Namespace is the samples' namespace, and the only one that the manager watches. Empty means default for the samples, and that the manager watches all.
	Namespace string
	// AsAdmin gives the manager all permissions in an embedded control plane, instead of those of config/default.
	AsAdmin bool
	// Denied is called for each permission that the manager lacks, once.
	Denied func(stage.Denial)
	// Drive, if it isn't nil, uses the running manager. Run ends when Drive returns, with its error.
	Drive func(context.Context, *Session) error
	// Preview, if it isn't nil, makes each write of the manager a dry run. It is called with the cluster of the kubeconfig and the
	// definitions of the operator before the manager starts. Run itself doesn't write to the cluster either: it installs no CRDs and
	// registers no webhooks. It needs PlaneKubeconfig and Drive, and excludes Watch, Samples and Webhooks.
	Preview func(ctx context.Context, cluster *kube.Client, definitions []*kube.Object) (*gateway.DryRun, error)
	// Debugger, if it isn't nil, runs the manager. Keep should be empty.
	Debugger *Debugger
	// NoManager leaves running the manager to the user. It needs PlaneEmbedded and excludes Webhooks and Drive.
	NoManager bool
	// Watch detects the changes after which the manager is restarted; nil disables it.
	Watch *Watch
	// Samples applies config/samples, and again after changes. SampleObjects, unless it is empty, replaces them in a Session.
	Samples       bool
	SampleObjects []*kube.Object
	// Place returns where a field of a sample is in the project's files, for errors; the zero Position if that isn't known. It may be nil.
	Place func(o *kube.Object, field string) diag.Position
	// Manifests, unless they are empty, are those of the operator in place of the project's, with its definitions, permissions and
	// webhooks. They need a Program.
	Manifests []*kube.Object
	// CRDs are definitions of others that the operator needs.
	CRDs []*kube.Object
	// Webhooks enables the project's webhooks, RemoteWebhooks also for the cluster of the kubeconfig.
	Webhooks, RemoteWebhooks bool
	// CertDir is where the manager reads the certificate of its webhooks, if it takes no flag for that; empty means controller-runtime's
	// default. Run writes the files and removes them.
	CertDir string
	// Environ is the environment of go, the manager and the control plane.
	Environ []string
	// HTTP requests the control plane of the release; nil for http.DefaultTransport.
	HTTP http.RoundTripper
	// Go builds the manager.
	Go gotool.Go
	// TempDir is the parent of temporary directories; empty means the system's.
	TempDir string
	// Program is the manager of a project without Go code; the zero Program is built from the project's code.
	Program Program
	// Keep is the file that stores the built manager for the next run; empty disables it.
	Keep string
	// Log receives the manager's output.
	Log *LogWriter
	// Now is the clock.
	Now func() time.Time
	// Command is the start of command lines for the project, such as "operon -C dir".
	Command string
	// Build builds the kustomization in a directory of the project; nil refuses references to other machines.
	Build func(dir string) ([]byte, error)
	// Generate updates the project's generated files.
	Generate func(ctx context.Context) error
	// Progress receives lines about steps, Report the errors after which Run waits for a change.
	Progress func(message string)
	Report   func(err error)
	// Interrupted returns a channel that is closed when the user interrupts the end of Run, which then kills the manager.
	Interrupted func() (again <-chan struct{}, stop context.CancelFunc)
}
