package release

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	// FieldManager is the field manager of all objects, as in operator-sdk's helm-operator.
	FieldManager = "helm-operator"
	// DefaultMaxHistory is the usual value of Options.MaxHistory.
	DefaultMaxHistory = 10
)

// Config is shared by all releases of a process.
type Config struct {
	// REST is the connection to the cluster. It is required.
	REST *rest.Config
	// Mapper maps kinds to resources, and detects kinds that are added later. The default is a mapper that discovers each
	// group when it is needed, so that a group that cannot be discovered does not affect others.
	Mapper meta.RESTMapper
	// HookTimeout limits the wait for one hook. The default, 0, means no limit.
	HookTimeout time.Duration
}

// A Factory creates releases that share connections and discovered information. It is safe for concurrent use. Two passes of the
// same release must not run at the same time.
type Factory struct {
	rest        *rest.Config
	http        *http.Client
	mapper      meta.RESTMapper
	discovery   *discovery.DiscoveryClient
	core        *corev1.CoreV1Client
	hookTimeout time.Duration
	// recordLimit replaces the size of Secrets in tests.
	recordLimit int

	clients restClients
	// dryClients send requests that the server doesn't store.
	dryClients   restClients
	capabilities capabilities
	verified     byOwner[verifiedStates]
	// states are the last read states, without charts and hooks.
	states byOwner[*state]
	crds   crdStates
}

// setFieldManager sets Helm's package variable once, as it must not change while releases are applied.
var setFieldManager = sync.OnceFunc(func() { kube.ManagedFieldsManager = FieldManager })

// NewFactory returns a factory of releases. It does not contact the cluster.
func NewFactory(c Config) (*Factory, error) {
	if c.REST == nil {
		return nil, errors.New("release factory: the connection to the cluster is required")
	}
	setFieldManager()
	client, err := rest.HTTPClientFor(c.REST)
	if err != nil {
		return nil, fmt.Errorf("release factory: %w", err)
	}
	f := &Factory{rest: rest.CopyConfig(c.REST), http: client, mapper: c.Mapper, hookTimeout: c.HookTimeout}
	if f.mapper == nil {
		if f.mapper, err = apiutil.NewDynamicRESTMapper(c.REST, client); err != nil {
			return nil, fmt.Errorf("release factory: %w", err)
		}
	}
	if f.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(c.REST, client); err != nil {
		return nil, fmt.Errorf("release factory: %w", err)
	}
	if f.core, err = corev1.NewForConfigAndClient(c.REST, client); err != nil {
		return nil, fmt.Errorf("release factory: %w", err)
	}
	f.clients.config, f.clients.http = f.rest, client
	f.dryClients.config, f.dryClients.http = f.rest, dryRunClient(client)
	return f, nil
}

// Options describe one release during one pass.
type Options struct {
	// Owner is the custom resource. The release has its name, and it owns the objects. Its UID is required.
	Owner *unstructured.Unstructured
	// Namespace is the one of the release; empty is the owner's.
	Namespace string
	// Chart is the chart to deploy. It is not changed, and must not be changed by others: a plan without action is repeated while
	// the chart is the same, so pass the same pointer as long as the files have not changed. Uninstall does not need it.
	Chart *chartv2.Chart
	// Values override the values of the chart. They are not changed. Integers keep their type, so that large ones are not
	// rendered in exponent notation.
	Values map[string]any
	// DryRun is the dryRunOption of watches.yaml. With "server", the lookup function always reads the cluster. With "", "client"
	// and "none", Plan calls templates without access to the cluster first, and with it only if the result differs.
	DryRun string
	// MaxHistory is the number of revisions to keep, 0 for all of them. The deployed one is always kept. It must not be negative.
	MaxHistory int
	// PostRender changes the objects of the release after rendering. It must be deterministic. Hooks are not passed to it.
	PostRender func([]*unstructured.Unstructured) ([]*unstructured.Unstructured, error)
	// InstallStrategy and UpgradeStrategy are what happens after a failure.
	InstallStrategy, UpgradeStrategy Strategy
	// Remediated is called after a release was rolled back or uninstalled because of a failure, and when that has failed. It may be nil.
	Remediated func(Strategy, error)
	// CRDs says what happens to the CRDs in the crds directory of the chart. Empty is CRDsCreate.
	CRDs CRDPolicy
	// Drift is what Repair does with objects that differ from the manifest. Empty is DriftEnabled.
	Drift DriftMode
	// Ignore lists fields that Repair leaves to others.
	Ignore IgnoreRules
	// Tests are how Test tests the release; nil if it is not tested.
	Tests *Tests
	// TakeOwnership is what happens to objects of the chart that exist and don't belong to the release. Empty is OwnershipDisabled.
	TakeOwnership OwnershipMode
	// Observer avoids requests of Repair for objects that have not changed. It may be nil.
	Observer Observer
	// HookTimeout limits the wait for one hook. 0 stands for the limit of the factory.
	HookTimeout time.Duration
	// Wait is called when Install, Upgrade or Uninstall has to wait. It must call until, which blocks until the wait or the context
	// ends, once, and return its error. Before and after, it can let others work. It may be nil.
	Wait func(w Waiting, until func() error) error
}

// A Release is one release during one pass.
type Release struct {
	factory *Factory
	options Options
	owner   owner
	name    string
	// namespace is the namespace of the custom resource.
	namespace string
	// fingerprints are the fingerprints of the revisions that history has read.
	fingerprints map[int]map[string]string
	// planned is the state that Plan has found to be settled, for the following Repair.
	planned *state
	// otherOwner is the kind of the custom resource that the records belong to, if it is another one. isOwner reports whether
	// one belongs to this custom resource.
	otherOwner string
	isOwner    bool
	// recordVersions are the versions of the records of the revisions that history has read.
	recordVersions map[int]string
	// records are the records that this pass has read or written, by name.
	records map[string]storedRecord
	// crds are the objects of the crds directories, once they are read.
	crds *[]chartCRD
	// crdReports are the CRDs that were left as they are.
	crdReports []CRDReport
	// adoptions are the adoptions of the revisions that history has read, and taken those of the last operation.
	adoptions map[int][]*adoption
	taken     []Takeover
	// tests are the states of the tests of the revisions that history has read. pendingTest is the action whose result is to be tested,
	// and recordsTests makes the next record say so. undoable is the revision that tests have found to have failed.
	tests        map[int]string
	pendingTest  Action
	recordsTests bool
	undoable     int
	// returned are the objects that were given back.
	returned map[key]bool
}

// Release returns the release of a custom resource. It fails if the name of the custom resource is not a valid release name.
func (f *Factory) Release(o Options) (*Release, error) {
	if o.Owner == nil || o.Owner.GetUID() == "" {
		return nil, errors.New("release: the custom resource and its UID are required")
	}
	name, kind := o.Owner.GetName(), o.Owner.GetKind()
	namespace := cmp.Or(o.Namespace, o.Owner.GetNamespace())
	if namespace == "" {
		return nil, fmt.Errorf("%s %q: a release requires a namespace", kind, name)
	}
	if err := checkName(kind, name); err != nil {
		return nil, err
	}
	switch o.DryRun {
	case "", "client", "none", "server":
	default:
		return nil, fmt.Errorf("dryRunOption %q: must be client, none or server", o.DryRun)
	}
	if err := CheckStrategies(o.InstallStrategy, o.UpgradeStrategy); err != nil {
		return nil, err
	}
	if !o.CRDs.isValid() {
		return nil, fmt.Errorf("crds %q: must be create, createReplace or skip", o.CRDs)
	}
	if !o.TakeOwnership.isValid() {
		return nil, fmt.Errorf("takeOwnership %q: must be enabled, report or disabled", o.TakeOwnership)
	}
	if o.MaxHistory < 0 {
		return nil, fmt.Errorf("maximum history %d: must not be negative", o.MaxHistory)
	}
	return &Release{factory: f, options: o, owner: newOwner(o.Owner), name: name, namespace: namespace}, nil
}

// maxNameLength is the limit of a release name in Helm, which leaves room for suffixes in the names of objects.
const maxNameLength = 53

func checkName(kind, name string) error {
	if len(name) > maxNameLength {
		return fmt.Errorf("%s %q: the name has %d characters and a Helm release name at most %d; choose a shorter name",
			kind, name, len(name), maxNameLength)
	}
	if err := chartutil.ValidateReleaseName(name); err != nil {
		return fmt.Errorf("%s %q: the name is not a valid Helm release name: %w", kind, name, err)
	}
	return nil
}
