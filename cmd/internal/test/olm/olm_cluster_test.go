//go:build unix

package olm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
)

// olmCluster is one in which what OLM's pods do is simulated, too.
type olmCluster struct {
	*clitest.WorkloadCluster
	// http serves releases.
	http http.RoundTripper
	// dir is the working directory of commands.
	dir string
	// before are the objects of the new cluster, for TestOLM.
	before []string
}

func startOLMCluster(t *testing.T) *olmCluster {
	t.Helper()
	c := &olmCluster{WorkloadCluster: clitest.StartWorkloadCluster(t), dir: t.TempDir()}
	c.http = roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("%s: this test has no network", r.URL)
	})
	simulateOLM(c)
	return c
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// operon runs a command in this process.
func (c *olmCluster) operon(args ...string) (code int, out, errOut string) {
	return c.operonAs(c.Plane.KubeconfigPath(), args...)
}

func (c *olmCluster) operonAs(kubeconfig string, args ...string) (code int, out, errOut string) {
	c.Helper()
	var o, e bytes.Buffer
	env := &cmd.Env{In: strings.NewReader(""), Out: &o, Err: &e, Dir: c.dir, FS: afero.NewOsFs(), Now: time.Now, HTTP: c.http,
		Environ: []string{"KUBECONFIG=" + kubeconfig}}
	code = cmd.Main(c.Context(), env, append([]string{"operon", "olm"}, args...))
	return code, o.String(), e.String()
}

// must fails the test unless the command ends with code.
func (c *olmCluster) must(t *testing.T, code int, args ...string) (out, errOut string) {
	t.Helper()
	begin := time.Now()
	got, out, errOut := c.operon(args...)
	if got != code {
		t.Fatalf("olm %s ends with %d, want %d\n%s%s", strings.Join(args, " "), got, code, out, errOut)
	}
	t.Logf("olm %s: %s", strings.Join(args, " "), time.Since(begin).Round(time.Millisecond))
	return out, errOut
}

// patiently runs a command with longer and longer timeouts until its output contains want: on a busy machine, it takes longer to get there.
// It returns the output and the timeout of the last run.
func patiently(timeout time.Duration, want string, run func(timeout string) string) (text, within string) {
	for ; ; timeout *= 4 {
		within = timeout.String()
		if text = run(within); strings.Contains(text, want) || timeout > 4*time.Minute {
			return text, within
		}
	}
}

// simulateOLM does what olm-operator does while its Deployment has a pod: it makes Deployments, an API service
// and rights of ClusterServiceVersions, and cleans up after those that are deleted.
func simulateOLM(c *olmCluster) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/packages.operators.coreos.com/v1" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"packages.operators.coreos.com/v1","resources":[]}`)
	}))
	_, text, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		c.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for s := (&simulatedOLM{client: c.Client, port: port, changed: map[string]time.Time{}, followed: map[string]bool{}}); ctx.Err() == nil; {
			_ = s.work(ctx) // what fails is done again
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	c.Cleanup(func() { cancel(); wg.Wait(); server.Close() })
}

type simulatedOLM struct {
	client *kube.Client
	port   int
	// changed is when each state of a ClusterServiceVersion was first seen, followed is what has been made of it.
	changed  map[string]time.Time
	followed map[string]bool
}

func stateOf(csv *kube.Object) string { return fmt.Sprint(csv.GetUID(), " ", csv.GetGeneration()) }

// late reports that a change is to be left alone for a while, as a busy OLM does: nothing but the change itself
// shows that it has not been followed.
func (s *simulatedOLM) late(csv *kube.Object) bool {
	state := stateOf(csv)
	if s.changed[state].IsZero() {
		s.changed[state] = time.Now()
	}
	return time.Since(s.changed[state]) < 1500*time.Millisecond
}

const cleanup = "operators.coreos.com/csv-cleanup"

func (s *simulatedOLM) work(ctx context.Context) error {
	operator, err := s.client.Get(ctx, kube.Named("apps/v1", "Deployment", "olm", "olm-operator"))
	if err != nil || operator == nil || !kube.HealthOf(operator).Ready {
		return err
	}
	csvs, err := s.client.List(ctx, kube.Resource{APIVersion: "operators.coreos.com/v1alpha1", Name: "clusterserviceversions"}, "", nil)
	if err != nil {
		return err
	}
	for _, csv := range csvs {
		if csv.GetDeletionTimestamp() != nil {
			err = s.clean(ctx, csv)
		} else {
			err = s.install(ctx, csv)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *simulatedOLM) patch(ctx context.Context, o *kube.Object, subresource, patch string) error {
	path, err := s.client.Path(ctx, o, o.GetNamespace())
	if err != nil {
		return err
	}
	return s.client.Do(ctx, http.MethodPatch, path+subresource, kube.MergePatch, json.RawMessage(patch), nil)
}

func (s *simulatedOLM) clean(ctx context.Context, csv *kube.Object) error {
	for _, r := range []kube.Resource{
		{APIVersion: "rbac.authorization.k8s.io/v1", Name: "clusterroles", Kind: "ClusterRole"},
	} {
		owned, err := s.client.ListNames(ctx, r, "", url.Values{"labelSelector": {"olm.owner=" + csv.GetName()}})
		if err != nil {
			return err
		}
		for _, o := range owned {
			if err := s.client.Delete(ctx, o, ""); err != nil {
				return err
			}
		}
	}
	return s.patch(ctx, csv, "", `{"metadata":{"finalizers":null}}`)
}

// install makes what belongs to a ClusterServiceVersion, as far as it is not there.
func (s *simulatedOLM) install(ctx context.Context, csv *kube.Object) error {
	if !slices.Contains(csv.GetFinalizers(), cleanup) {
		if err := s.patch(ctx, csv, "", `{"metadata":{"finalizers":["`+cleanup+`"]}}`); err != nil {
			return err
		}
	}
	var spec struct {
		Spec struct {
			Install struct {
				Spec struct {
					Deployments []struct {
						Name string
						Spec any
					}
				}
			}
		}
	}
	text, err := json.Marshal(csv.Object)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		return err
	}
	if s.late(csv) {
		return nil
	}
	if state := stateOf(csv); !s.followed[state] {
		if err := s.setPhase(ctx, csv, "Installing"); err != nil {
			return err
		}
		s.followed[state] = true
	}
	ready := true
	for _, d := range spec.Spec.Install.Spec.Deployments {
		o := &kube.Object{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "spec": d.Spec,
			"metadata": map[string]any{"name": d.Name, "namespace": csv.GetNamespace(), "ownerReferences": []any{map[string]any{
				"apiVersion": csv.GetAPIVersion(), "kind": "ClusterServiceVersion", "name": csv.GetName(), "uid": string(csv.GetUID()),
			}}},
		}}
		if err := s.client.Apply(ctx, o, csv.GetNamespace()); err != nil {
			return err
		}
		live, err := s.client.Get(ctx, o)
		if err != nil {
			return err
		}
		ready = ready && live != nil && kube.HealthOf(live).Ready
	}
	labels := fmt.Sprintf("{olm.owner: %s, olm.owner.namespace: %s, olm.owner.kind: ClusterServiceVersion, olm.managed: \"true\"}", csv.GetName(), csv.GetNamespace())
	objects := fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s-rights, labels: %[2]s}
`, csv.GetName(), labels)
	if csv.GetName() == "packageserver" {
		objects += fmt.Sprintf(`---
apiVersion: v1
kind: Service
metadata: {name: packageserver-service, namespace: %[3]s, labels: {olm.managed: "true"}}
spec: {type: ExternalName, externalName: localhost, ports: [{port: %[1]d}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: packageserver-service-auth-reader, namespace: kube-system, labels: {olm.managed: "true"}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: extension-apiserver-authentication-reader}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.packages.operators.coreos.com, labels: %[2]s}
spec:
  group: packages.operators.coreos.com
  version: v1
  groupPriorityMinimum: 2000
  versionPriority: 15
  insecureSkipTLSVerify: true
  service: {name: packageserver-service, namespace: %[3]s, port: %[1]d}
`, s.port, labels, csv.GetNamespace())
	}
	decoded, err := kube.Decode([]byte(objects))
	if err != nil {
		return err
	}
	for _, o := range decoded {
		live, err := s.client.Get(ctx, o)
		if err != nil {
			return err
		}
		if live == nil {
			if err := s.client.Apply(ctx, o, ""); err != nil {
				return err
			}
		}
	}
	phase := "Installing"
	if ready {
		phase = "Succeeded"
	}
	return s.setPhase(ctx, csv, phase)
}

func (s *simulatedOLM) setPhase(ctx context.Context, csv *kube.Object, phase string) error {
	return s.patch(ctx, csv, "/status", `{"status":{"phase":"`+phase+`","lastUpdateTime":null}}`)
}
