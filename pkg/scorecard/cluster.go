package scorecard

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// An Event is a step or a line of the log of a test in a cluster.
type Event struct {
	// Test is the test's name, Text the step or, if Log is true, the line.
	Test, Text string
	Log        bool
}

// Cluster runs tests as pods.
type Cluster struct {
	Client *kube.Client
	PodOptions
	// Progress is called with each event, concurrently for parallel tests.
	Progress func(Event)
	// OpenOutput opens the directory for the output files of tests with storage, which are in SUITE/TEST. It is called only for such
	// tests.
	OpenOutput func() (*os.Root, error)
	// Keep prevents later runs from deleting the pods, as Clean will not be called.
	Keep bool

	configMap, uid string
}

func (c *Cluster) path(kind string) string {
	return "/api/v1/namespaces/" + url.PathEscape(c.Namespace) + "/" + kind
}

// newName returns a unique name.
func newName() string { return "scorecard-test-" + strings.ToLower(rand.Text()[:6]) }

// Run runs the tests of stages for at most c.Wait. Call Clean even if it fails. The list is empty if no test has started.
func (c *Cluster) Run(ctx context.Context, b Bundle, stages []v1alpha3.StageConfiguration) (list v1alpha3.TestList, err error) {
	limited, cancel := context.WithTimeoutCause(ctx, c.Wait, fmt.Errorf("the time is up: --wait-time is %s", c.Wait))
	defer cancel()
	if err = c.start(limited, b); err == nil {
		list = Run(limited, stages, c)
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("the tests did not end within %s; --wait-time gives them longer", c.Wait))
	}
	return list, err
}

// start stores the bundle in the cluster, and deletes the objects of killed runs.
func (c *Cluster) start(ctx context.Context, b Bundle) error {
	data, err := archive(b)
	if err != nil {
		return err
	}
	c.configMap = newName()
	var created ownedMap
	metadata := fields{"name": c.configMap, "namespace": c.Namespace, "labels": fields{"app": appLabel, runLabel: c.configMap}}
	if !c.Keep {
		metadata["annotations"] = fields{limitKey: c.Wait.String()}
	}
	err = c.Client.Do(ctx, http.MethodPost, c.path("configmaps"), "", fields{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata":   metadata,
		"binaryData": fields{archiveName: base64.StdEncoding.EncodeToString(data)},
	}, &created)
	if kube.IsNotFound(err) {
		return fmt.Errorf("namespace %s not found; create it with 'kubectl create namespace %[1]s', or pass another --namespace", c.Namespace)
	}
	if err != nil {
		return fmt.Errorf("storing the bundle in the namespace %s: %w", c.Namespace, cause(ctx, err))
	}
	c.uid = created.Metadata.UID
	c.sweep(ctx, created.Metadata.CreationTimestamp)
	return nil
}

// cause returns the cause of ctx if it has ended, otherwise err.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// graceSeconds is the time in which the containers of a deleted pod must exit.
const graceSeconds = "1"

// Clean deletes all objects of this run and waits for their deletion.
func (c *Cluster) Clean(ctx context.Context) error {
	if c.configMap == "" {
		return nil
	}
	err := c.remove(ctx, c.configMap)
	if err == nil {
		err = c.waitDeleted(ctx, c.podsOf(c.configMap))
	}
	if err != nil {
		return diag.Explain(fmt.Errorf("deleting the pods of this run: %w", err),
			fmt.Sprintf("delete them with 'kubectl delete --namespace %s pods,configmaps --selector %s=%s'", c.Namespace, runLabel, c.configMap))
	}
	return nil
}

// Remaining describes the objects that Clean would delete.
func (c *Cluster) Remaining() string {
	return fmt.Sprintf("the pods and the ConfigMap %s are kept in the namespace %s; 'kubectl delete --namespace %[2]s configmap %[1]s' deletes them all", c.configMap, c.Namespace)
}

// waitDeleted waits until a list is empty.
func (c *Cluster) waitDeleted(ctx context.Context, path string) error {
	var list struct{ Items []struct{} }
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		list.Items = nil
		err := c.Client.Do(ctx, http.MethodGet, path, "", nil, &list)
		return len(list.Items) == 0, err
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%d of them still exist: %w", len(list.Items), context.Cause(ctx))
	}
	return err
}

// RunTest runs a test as a pod. It returns immediately if the pod cannot run.
func (c *Cluster) RunTest(ctx context.Context, test v1alpha3.TestConfiguration) v1alpha3.TestStatus {
	run := &podRun{Cluster: c, test: test, name: newName()}
	status := run.run(ctx)
	c.Progress(Event{Test: testName(test), Text: string(stateOf(status))})
	return status
}
