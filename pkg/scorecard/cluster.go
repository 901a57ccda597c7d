package scorecard

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"

	"github.com/operon-sdk/operon/pkg/kube"
)

// Event is something that happens to a test in a cluster.
type Event struct {
	// Test is the test's name, Text what happens or, with Log, a line that it has written.
	Test, Text string
	Log        bool
}

// Cluster runs tests as pods.
type Cluster struct {
	Client *kube.Client
	PodOptions
	// Tell is told what happens, of several tests at once.
	Tell func(Event)
	// OpenOutput opens the directory for the files of tests that have a storage, SUITE/TEST in it. It is not called
	// without such tests.
	OpenOutput func() (*os.Root, error)
	// Keep says that Clean will not be called: nobody else is to clean up either.
	Keep bool

	configMap, uid string
}

func (c *Cluster) folder(kind string) string {
	return "/api/v1/namespaces/" + url.PathEscape(c.Namespace) + "/" + kind
}

// newName makes a name that no other run has.
func newName() string { return "scorecard-test-" + strings.ToLower(rand.Text()[:6]) }

// Start puts the bundle into the cluster, and deletes what runs have left there that were killed. Clean is to be called even if it fails.
func (c *Cluster) Start(ctx context.Context, b Bundle) error {
	data, err := archive(b)
	if err != nil {
		return err
	}
	c.configMap = newName()
	var made ownedMap
	metadata := fields{"name": c.configMap, "namespace": c.Namespace, "labels": fields{"app": appLabel, runLabel: c.configMap}}
	if !c.Keep {
		metadata["annotations"] = fields{limitKey: c.Wait.String()}
	}
	err = c.Client.Do(ctx, http.MethodPost, c.folder("configmaps"), "", fields{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata":   metadata,
		"binaryData": fields{archiveName: base64.StdEncoding.EncodeToString(data)},
	}, &made)
	if kube.IsNotFound(err) {
		return fmt.Errorf("the cluster has no namespace %s; make it with 'kubectl create namespace %[1]s', or give another --namespace", c.Namespace)
	}
	if err != nil {
		return fmt.Errorf("putting the bundle into the namespace %s: %w", c.Namespace, cause(ctx, err))
	}
	c.uid = made.Metadata.UID
	c.sweep(ctx, made.Metadata.CreationTimestamp)
	return nil
}

// cause is why ctx has ended, if that is why something failed.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// goneWithin is how long the containers of a deleted pod may still work.
const goneWithin = "1"

// Clean deletes all that was made and waits until it is gone.
func (c *Cluster) Clean(ctx context.Context) error {
	if c.configMap == "" {
		return nil
	}
	err := c.remove(ctx, c.configMap)
	if err == nil {
		err = c.gone(ctx, c.podsOf(c.configMap))
	}
	if err != nil {
		return fmt.Errorf("deleting the pods of this run: %w\nwhat is left goes with 'kubectl delete --namespace %s pods,configmaps --selector %s=%s'",
			err, c.Namespace, runLabel, c.configMap)
	}
	return nil
}

// Remains says what Clean would delete.
func (c *Cluster) Remains() string {
	return fmt.Sprintf("the pods and the ConfigMap %s stay in the namespace %s; 'kubectl delete --namespace %[2]s configmap %[1]s' deletes them all", c.configMap, c.Namespace)
}

// gone waits until a list is empty.
func (c *Cluster) gone(ctx context.Context, path string) error {
	for {
		var list struct{ Items []struct{} }
		if err := c.Client.Do(ctx, http.MethodGet, path, "", nil, &list); err != nil {
			return cause(ctx, err)
		}
		if len(list.Items) == 0 {
			return nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return fmt.Errorf("%d of them are still there: %w", len(list.Items), err)
		}
	}
}

// pause waits, and returns why ctx has ended meanwhile.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// RunTest runs one test as a pod. A pod that cannot run ends its test at once.
func (c *Cluster) RunTest(ctx context.Context, test v1alpha3.TestConfiguration) v1alpha3.TestStatus {
	run := &podRun{Cluster: c, test: test, name: newName()}
	status := run.run(ctx)
	state := v1alpha3.PassState
	for _, result := range status.Results {
		if result.State != v1alpha3.PassState {
			state = result.State
		}
	}
	c.Tell(Event{Test: TestName(test), Text: string(state)})
	return status
}
