//go:build unix

package scorecard

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// podTests is a configuration whose images the simulated kubelet supports.
const podTests = `
serviceaccount: tester
storage: {spec: {mountPath: {path: ""}}}
stages:
- parallel: true
  tests:
  - {image: "registry.test/t:v1", entrypoint: [good, --fast], labels: {test: one, kind: fine}}
  - {image: "registry.test/t:v1", entrypoint: [failing], labels: {test: two}}
- tests:
  - {image: "registry.test/t:v1", entrypoint: [good], labels: {test: three, suite: files, kind: fine}, storage: {spec: {mountPath: {path: /out}}}}
  - {image: "registry.test/t:v1", entrypoint: [babbling], labels: {test: four}}
`

// TestScorecardInCluster runs tests as pods: the API server, the controllers and the scheduler are real,
// what containers write is simulated.
func TestScorecardInCluster(t *testing.T) {
	t.Parallel()
	c := startScorecardCluster(t)
	dir := withConfig(t, podTests)
	c.Apply(t, `{apiVersion: v1, kind: Namespace, metadata: {name: tests}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: tester, namespace: tests}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: strict, labels: {pod-security.kubernetes.io/enforce: restricted}}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: tester, namespace: strict}}`)
	run := func(t *testing.T, ctx context.Context, args ...string) (int, string, string) {
		t.Helper()
		var out, errOut bytes.Buffer
		env := &cmd.Env{In: strings.NewReader(""), Out: &out, Err: &errOut, Dir: dir, FS: afero.NewOsFs(), Environ: []string{"KUBECONFIG=" + c.kubeconfig}}
		c.requests(nil)
		code := cmd.Main(ctx, env, append([]string{"operon", "scorecard", "bundle"}, args...))
		return code, out.String(), errOut.String()
	}
	for _, row := range []struct {
		name string
		test func(*testing.T)
	}{
		{"everything", func(t *testing.T) {
			code, out, errOut := run(t, t.Context(), "-n", "tests", "-w", "1m", "-o", "json", "--pod-security", "restricted", "-t", "files", "-s", "other")
			var list v1alpha3.TestList
			if err := json.Unmarshal([]byte(out), &list); err != nil || code != 1 || len(list.Items) != 4 {
				t.Fatalf("%d, %v\n%s%s", code, err, out, errOut)
			}
			var states []string
			for _, item := range list.Items {
				states = append(states, item.Spec.Labels["test"]+" "+string(item.Status.Results[0].State))
			}
			if want := []string{"one pass", "two fail", "three pass", "four fail"}; !slices.Equal(states, want) {
				t.Errorf("got %q, want %q", states, want)
			}
			four := list.Items[3].Status.Results[0]
			if !strings.Contains(four.Errors[0], "its output is not a test result (invalid character 'b'") || four.Log != "babble\nbabble\n" {
				t.Errorf("got %q, %q", four.Errors, four.Log)
			}
			clitest.CheckContains(t, errOut, "one | starting\n", "one: pass\n", "four | babble\n", "tests have failed: 2 of 4: two, four",
				"note: bundle/tests/scorecard/config.yaml names the service account tester, which goes before --service-account")
			if data, err := os.ReadFile(filepath.Join(dir, "files", "files", "three", "deep", "result.txt")); err != nil || string(data) != "a file\n" {
				t.Errorf("%q, %v", data, err)
			}
			c.checkPods(t, "tests")
			c.checkParallel(t)
			c.checkConfigMap(t, filepath.Join(dir, "bundle"))
			c.empty(t, "tests")
		}},
		{"the time is up", func(t *testing.T) {
			c.schedulable(t, false)
			defer c.schedulable(t, true)
			code, out, errOut := run(t, t.Context(), "-n", "tests", "-w", "4s")
			clitest.CheckContains(t, out, "no result: the time is up: --wait-time is 4s", "no node accepts it: Unschedulable", "did not run: the time is up")
			if clitest.CheckContains(t, errOut, "the tests did not end within 4s; --wait-time gives them longer"); code != 1 {
				t.Errorf("exit code %d\n%s", code, errOut)
			}
			c.empty(t, "tests")
		}},
		{"interrupted", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c.onPod(cancel)
			defer c.onPod(nil)
			code, _, errOut := run(t, ctx, "-n", "tests", "-w", "1m")
			if clitest.CheckContains(t, errOut, "error: interrupted"); code != 1 {
				t.Errorf("exit code %d\n%s", code, errOut)
			}
			c.empty(t, "tests")
		}},
		{"left in the cluster", func(t *testing.T) {
			code, _, errOut := run(t, t.Context(), "-n", "tests", "-w", "1m", "-l", "kind=fine", "-x")
			if code != 0 || len(c.left(t, "tests")) != 3 {
				t.Fatalf("%d, %q\n%s", code, c.left(t, "tests"), errOut)
			}
			_, name, _ := strings.Cut(errOut, "kubectl delete --namespace tests configmap ")
			name, _, _ = strings.Cut(name, "'")
			c.Delete(t, "v1", "ConfigMap", "tests", name)
			c.Try(t, func() error { // it is the garbage collector's turn
				if left := c.left(t, "tests"); len(left) > 0 {
					return fmt.Errorf("%q are left", left)
				}
				return nil
			})
		}},
		{"after a run that was killed", func(t *testing.T) {
			c.Apply(t, "{apiVersion: v1, kind: Namespace, metadata: {name: swept}}\n---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: tester, namespace: swept}}")
			for name, limit := range map[string]string{"killed": "-1h", "running": "1h", "kept": "none"} {
				c.Apply(t, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %[1]s, namespace: swept, annotations: {operon/scorecard-limit: %[2]s}, labels: {app: scorecard-test, testrun: %[1]s}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: %[1]s, namespace: swept, labels: {app: scorecard-test, testrun: %[1]s}}, spec: {serviceAccountName: tester, containers: [{name: t, image: "registry.test/t:v1"}]}}`, name, limit))
			}
			code, out, errOut := run(t, t.Context(), "-n", "swept", "-w", "1m", "-l", "test=one")
			if clitest.CheckContains(t, errOut, "killed: deleted with its pods, which a killed run created\n"); code != 0 || strings.Count(errOut, "deleted") != 1 {
				t.Errorf("%d\n%s%s", code, out, errOut)
			}
			c.Try(t, func() error { // the pod has its grace period
				left := slices.Sorted(slices.Values(c.left(t, "swept")))
				if want := []string{"configmap swept/kept", "configmap swept/running", "pod swept/kept", "pod swept/running"}; !slices.Equal(left, want) {
					return fmt.Errorf("%q are left, not %q", left, want)
				}
				return nil
			})
		}},
		{"no such namespace", func(t *testing.T) {
			code, out, errOut := run(t, t.Context(), "-n", "nowhere")
			if clitest.CheckContains(t, errOut, "namespace nowhere not found; create it with"); code != 1 || out != "" {
				t.Errorf("%d\n%s", code, out)
			}
		}},
		{"no such service account", func(t *testing.T) {
			code, out, _ := run(t, t.Context(), "-l", "test=one")
			if clitest.CheckContains(t, out, "cannot create the pod: ", `serviceaccount "tester" not found`); code != 1 {
				t.Error(code)
			}
			c.empty(t, "default")
		}},
		{"pods are not let in", func(t *testing.T) {
			code, out, _ := run(t, t.Context(), "-n", "strict", "-l", "test=three")
			if clitest.CheckContains(t, out, `violates PodSecurity "restricted:latest"`, "; pass --pod-security restricted"); code != 1 {
				t.Error(code)
			}
			if code, out, errOut := run(t, t.Context(), "-n", "strict", "-l", "test=three", "--pod-security", "restricted", "-w", "1m"); code != 0 {
				t.Errorf("%d\n%s%s", code, out, errOut)
			}
			c.empty(t, "strict")
		}},
		{"files cannot be fetched", func(t *testing.T) {
			code, out, _ := run(t, t.Context(), "-n", "tests", "-l", "test=three", "-w", "1m", "-b", "registry.test/broken:v1")
			if clitest.CheckContains(t, out, "cannot fetch its files: command terminated with exit code 2: tar: no such thing"); code != 1 {
				t.Error(code)
			}
			c.empty(t, "tests")
		}},
	} {
		if !t.Run(row.name, row.test) {
			break
		}
	}
}

// checkPods holds what the pods of the last run were like.
func (c *scorecardCluster) checkPods(t *testing.T, namespace string) {
	t.Helper()
	const secured = `"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"runAsNonRoot":true}`
	pods := c.posted("pods")
	if len(pods) != 4 {
		t.Fatalf("%d pods", len(pods))
	}
	for i, body := range pods {
		storage := strings.Contains(body, "SCORECARD_STORAGE")
		if storage != (i == 2) {
			t.Errorf("pod %d has a storage: %t", i, storage)
		}
		containers := 2
		if storage {
			containers = 3
			clitest.CheckContains(t, body, `"args":["/bin/sh","-c","sleep 1000"]`, `"image":"quay.io/operator-framework/scorecard-storage@sha256:a3bf`, `{"name":"SCORECARD_STORAGE","value":"/out"}`,
				`{"mountPath":"/out","name":"scorecard-storage","readOnly":true}`, `{"emptyDir":{},"name":"scorecard-storage"}`, `"name":"scorecard-gather"`)
		}
		if strings.Count(body, secured) != containers {
			t.Errorf("pod %d has not %d secured containers: %s", i, containers, body)
		}
		clitest.CheckContains(t, body, `"serviceAccountName":"tester"`, `"restartPolicy":"Never"`, `"seccompProfile":{"type":"RuntimeDefault"}`, `"namespace":"`+namespace+`"`,
			`"args":["tar","xvzf","/scorecard/bundle.tar.gz","-C","/scorecard-bundle"]`, `"image":"quay.io/operator-framework/scorecard-untar@sha256:2e72`,
			`{"mountPath":"/bundle","name":"scorecard-untar","readOnly":true}`, `"fieldRef":{"fieldPath":"metadata.namespace"}`, `"app":"scorecard-test"`,
			`"name":"scorecard-test"`, `"imagePullPolicy":"IfNotPresent"`)
	}
}

// checkParallel checks that a stage's tests run at the same time, and the next stage after them.
func (c *scorecardCluster) checkParallel(t *testing.T) {
	t.Helper()
	var order []string
	for _, r := range c.seen() {
		switch {
		case r.method == "POST" && strings.HasSuffix(r.path, "/pods"):
			order = append(order, "pod")
		case strings.HasSuffix(r.path, "/log"):
			order = append(order, "log")
		}
	}
	order = slices.Compact(order)
	// Two pods, then their logs; then a pod and its log, twice.
	if want := []string{"pod", "log", "pod", "log", "pod", "log"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}

// checkConfigMap checks that the ConfigMap of the last run contained the bundle.
func (c *scorecardCluster) checkConfigMap(t *testing.T, bundle string) {
	t.Helper()
	var object struct{ BinaryData map[string]string }
	bodies := c.posted("configmaps")
	if len(bodies) != 1 {
		t.Fatalf("%d ConfigMaps", len(bodies))
	}
	if err := json.Unmarshal([]byte(bodies[0]), &object); err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(object.BinaryData["bundle.tar.gz"])
	if err != nil {
		t.Fatal(err)
	}
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for reader := tar.NewReader(packed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			files = append(files, header.Name)
			if want, err := os.ReadFile(filepath.Join(bundle, header.Name)); err != nil || !bytes.Equal(want, content) {
				t.Errorf("%s differs: %v", header.Name, err)
			}
		}
	}
	if want := fmt.Sprint([]string{otterCSV, otterCRD, otterNote, "tests/scorecard/config.yaml"}); fmt.Sprint(files) != want {
		t.Errorf("got %s, want %s", files, want)
	}
}
