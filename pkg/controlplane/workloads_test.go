package controlplane

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// workloadAssets are etcd, kube-apiserver, kube-controller-manager and kube-scheduler.
var workloadAssets = sync.OnceValues(func() (Assets, error) {
	o := DefaultOptions(os.Environ())
	o.Parts, o.NoDownload = WorkloadParts(), true
	return Ensure(context.Background(), o)
})

// startWorkloads starts a control plane with workloads. It is the only one in its parent directory.
func startWorkloads(t *testing.T) *ControlPlane {
	t.Helper()
	skipIfShort(t)
	assets, err := workloadAssets()
	if err != nil {
		t.Fatal(err)
	}
	cp, err := Start(t.Context(), assets, StartOptions{TempDir: t.TempDir(), ServiceAccounts: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := cp.StartWorkloads(t.Context(), StartOptions{}, time.Now); err != nil {
		t.Fatal(err)
	}
	return cp
}

// TestWorkloads rolls out a Deployment, completes a Job and deletes both, on the simulated node.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	cp := startWorkloads(t)
	parent := filepath.Dir(cp.dir.Path)
	do := func(method, path, body string) {
		t.Helper()
		if code, answer := request(t, cp, cp.Token, method, path, body); code >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, code, answer)
		}
	}
	const deployments, jobs = "/apis/apps/v1/namespaces/default/deployments", "/apis/batch/v1/namespaces/default/jobs"
	template := `"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"example.com/c:1"}]`
	do("POST", deployments, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"a"}},`+template+`}}}}`)
	do("POST", jobs, `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{`+template+`,"restartPolicy":"Never"}}}}`)
	eventually(t, cp, deployments+"/a", func(o answer) bool { return o.Status.AvailableReplicas == 3 })
	eventually(t, cp, jobs+"/j", func(o answer) bool { return o.Status.Succeeded == 1 })
	eventually(t, cp, "/api/v1/namespaces/default/pods", func(o answer) bool {
		addresses := map[string]bool{}
		for _, pod := range o.Items {
			addresses[pod.Status.PodIP] = true
			if pod.Spec.NodeName != NodeName || pod.Status.StartTime == "" {
				return false
			}
		}
		return len(o.Items) == 4 && len(addresses) == 4 && !addresses[""]
	})
	checkKubelet(t, cp, do)
	// What is deleted goes: a pod is replaced, a Deployment takes its pods along.
	do("DELETE", deployments+"/a", `{"propagationPolicy":"Foreground"}`)
	do("DELETE", jobs+"/j", `{"propagationPolicy":"Foreground"}`)
	eventually(t, cp, "/api/v1/namespaces/default/pods", func(o answer) bool { return o.Kind == "PodList" && len(o.Items) == 0 })

	pids := []int{cp.etcd.cmd.Process.Pid, cp.api.cmd.Process.Pid, cp.extra[0].cmd.Process.Pid, cp.extra[1].cmd.Process.Pid}
	if err := cp.Stop(); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		if isRunning(pid) {
			t.Errorf("process %d lives after Stop", pid)
		}
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("%d directories are left", len(left))
	}
}

// checkKubelet expects one sentence about what needs containers, also when the client asks for another protocol, as kubectl does.
func checkKubelet(t *testing.T, cp *ControlPlane, do func(method, path, body string)) {
	t.Helper()
	const pods = "/api/v1/namespaces/default/pods"
	do("POST", pods, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"example.com/c:1"}]}}`)
	eventually(t, cp, pods+"?fieldSelector=metadata.name%3Dp", func(o answer) bool { return len(o.Items) == 1 && o.Items[0].Status.Phase == "Running" })
	for method, want := range map[string]string{
		"GET /log":                          "the containers of pod default/p are simulated, so it has no logs",
		"POST /exec?command=ls&stdout=true": "the containers of pod default/p are simulated, so no command can run in it",
		"POST /attach?stdout=true":          "the containers of pod default/p are simulated, so there is nothing to attach to",
		"POST /portforward?ports=80":        "the containers of pod default/p are simulated, so no port is open in it",
	} {
		verb, path, _ := strings.Cut(method, " ")
		code, answer := upgrade(t, cp, verb, pods+"/p"+path)
		if code != http.StatusBadRequest || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", method, code, answer)
		}
	}
	do("DELETE", pods+"/p", "")
}

// upgrade sends a request for SPDY.
func upgrade(t *testing.T, cp *ControlPlane, method, path string) (code int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, cp.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+cp.Token)
	if method == http.MethodPost {
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Upgrade", "SPDY/3.1")
	}
	return send(t, cp, req)
}

func TestWorkloadsNeedTheirPrograms(t *testing.T) {
	t.Parallel()
	cp := startReal(t, StartOptions{})
	cp.Assets = fakeAssets(t) // of etcd and kube-apiserver only
	if err := cp.StartWorkloads(t.Context(), StartOptions{}, time.Now); err == nil || !strings.Contains(err.Error(), KubeScheduler) {
		t.Errorf("got %v", err)
	}
}

// answer is what the tests read of objects and lists.
type answer struct {
	Kind   string
	Status struct{ AvailableReplicas, Succeeded int }
	Items  []struct {
		Metadata struct{ Name string }
		Spec     struct{ NodeName string }
		Status   struct{ Phase, PodIP, StartTime string }
	}
}

func eventually(t *testing.T, cp *ControlPlane, path string, want func(answer) bool) {
	t.Helper()
	var body string
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var o answer
		_, body = request(t, cp, cp.Token, "GET", path, "")
		if json.Unmarshal([]byte(body), &o) == nil && want(o) {
			return
		}
	}
	t.Fatalf("%s stays\n%s", path, body)
}
