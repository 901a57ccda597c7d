package controlplane

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/tempdir"
)

// request sends a request as the control plane's user and returns the status and the answer.
func request(t *testing.T, cp *ControlPlane, token, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, cp.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	return send(t, cp, req)
}

func send(t *testing.T, cp *ControlPlane, req *http.Request) (code int, answer string) {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(cp.CAData) {
		t.Fatal("CAData holds no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"memcacheds.cache.example.com"},
"spec":{"group":"cache.example.com","scope":"Namespaced","names":{"plural":"memcacheds","kind":"Memcached"},
"versions":[{"name":"v1alpha1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"size":{"type":"integer","minimum":1}}}}}}}]}}`

func TestStartServes(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	var log bytes.Buffer
	cp := startReal(t, StartOptions{TempDir: parent, Log: &log})

	if code, body := request(t, cp, cp.Token, "GET", "/version", ""); code != 200 || !strings.Contains(body, `"v`+cp.Assets.Version+`"`) {
		t.Errorf("/version: %d %s", code, body)
	}
	if code, body := request(t, cp, cp.Token, "POST", "/api/v1/namespaces", `{"metadata":{"name":"cache"}}`); code != 201 {
		t.Errorf("making a namespace: %d %s", code, body)
	}
	if code, body := request(t, cp, cp.Token, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd); code != 201 {
		t.Fatalf("making a CRD: %d %s", code, body)
	}
	const object = `{"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached","metadata":{"name":"m"},"spec":{"size":%d}}`
	const collection = "/apis/cache.example.com/v1alpha1/namespaces/cache/memcacheds"
	deadline := time.Now().Add(5 * time.Minute)
	for code := 404; code == 404 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		code, _ = request(t, cp, cp.Token, "GET", collection, "")
	}
	if code, body := request(t, cp, cp.Token, "POST", collection, fmt.Sprintf(object, 0)); code != 422 {
		t.Errorf("an object that its schema forbids: %d %s", code, body)
	}
	if code, body := request(t, cp, cp.Token, "POST", collection, fmt.Sprintf(object, 1)); code != 201 {
		t.Errorf("making an object: %d %s", code, body)
	}
	if code, _ := request(t, cp, "someone-else", "GET", "/api/v1/namespaces", ""); code != 401 {
		t.Errorf("another token is answered with %d", code)
	}
	if code, _ := request(t, cp, "", "GET", "/api/v1/namespaces", ""); code != 403 {
		t.Errorf("an anonymous user is answered with %d, RBAC should forbid it", code)
	}

	info, err := os.Stat(cp.KubeconfigPath())
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig's mode is %o", info.Mode().Perm())
	}
	kubectl := exec.Command(cp.Assets.Path(Kubectl), "get", "namespace", "cache", "-o", "name")
	kubectl.Env = append(os.Environ(), cp.Env()...)
	if out, err := kubectl.CombinedOutput(); err != nil || string(out) != "namespace/cache\n" {
		t.Errorf("kubectl: %v, %s", err, out)
	}

	select {
	case <-cp.Done():
		t.Errorf("a server ended early: %v", cp.Err())
	default:
	}
	pids := []int{cp.etcd.cmd.Process.Pid, cp.api.cmd.Process.Pid}
	if err := cp.Stop(); err != nil {
		t.Error(err)
	}
	<-cp.Done()
	for _, pid := range pids {
		if isRunning(pid) {
			t.Errorf("process %d runs after Stop", pid)
		}
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("Stop left %v", left)
	}
	if !strings.Contains(log.String(), "Serving securely on 127.0.0.1:") {
		t.Error("the log was not passed on")
	}
}

// TestStartWithoutRoles expects a control plane that its user can use at once, and default roles later.
func TestStartWithoutRoles(t *testing.T) {
	t.Parallel()
	cp := startReal(t, StartOptions{WithoutRoles: true})
	if code, body := request(t, cp, cp.Token, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd); code != 201 {
		t.Errorf("creating a CRD: %d %s", code, body)
	}
	if code, body := request(t, cp, cp.Token, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"one"}}`); code != 201 {
		t.Errorf("creating an object in the default namespace: %d %s", code, body)
	}
	deadline := time.Now().Add(5 * time.Minute)
	code, body := 0, ""
	for code != 200 && time.Now().Before(deadline) {
		code, body = request(t, cp, cp.Token, "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin", "")
		time.Sleep(50 * time.Millisecond)
	}
	if code != 200 {
		t.Errorf("the role cluster-admin: %d %s", code, body)
	}
}

// TestDoneReportsEndedServer kills etcd under a running control plane.
func TestDoneReportsEndedServer(t *testing.T) {
	t.Parallel()
	cp := startReal(t, StartOptions{})
	if err := cp.etcd.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-cp.Done():
	case <-time.After(time.Minute):
		t.Fatal("Done is not closed")
	}
	if err := cp.Err(); err == nil || !strings.Contains(err.Error(), "etcd failed") {
		t.Errorf("Err() = %v", err)
	}
}

// TestDiesWithParent kills a process that runs a control plane, which can then stop nothing any more.
func TestDiesWithParent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test finds processes by the parent process ids of Unix")
	}
	t.Parallel()
	skipIfShort(t)
	if _, err := realAssets(); err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	hold := selfCommand(t, holdVariable+"="+parent)
	out, err := hold.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hold.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	var pids [2]int
	if _, err := fmt.Sscan(line, &pids[0], &pids[1]); err != nil || !isRunning(pids[0]) || !isRunning(pids[1]) {
		_ = hold.Process.Kill()
		t.Fatalf("no control plane: %s", line)
	}
	if err := hold.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = hold.Wait()
	stopped := func() bool { return !isRunning(pids[0]) && !isRunning(pids[1]) }
	for deadline := time.Now().Add(30 * time.Second); !stopped() && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	if !stopped() {
		t.Errorf("processes outlive their parent: etcd %v, kube-apiserver %v", isRunning(pids[0]), isRunning(pids[1]))
	}
	if left, _ := filepath.Glob(filepath.Join(parent, "*", runPrefix+"-*")); len(left) != 1 {
		t.Errorf("expected the directory of the killed process, got %v", left)
	}
	tempdir.Sweep(parent)
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("the data of the killed process stays: %v", left)
	}
}

// TestForeignServersDieWithParent has servers that do not watch their parent, as downloaded ones don't.
func TestForeignServersDieWithParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux sends a signal to a process whose parent exits")
	}
	t.Parallel()
	parent, fake := t.TempDir(), fakeAssets(t)
	hold := selfCommand(t, holdVariable+"="+parent, holdAssetsVariable+"="+fake.Dir, "FAKE_ETCD=hang", "FAKE_KUBE_APISERVER=hang")
	if err := hold.Start(); err != nil {
		t.Fatal(err)
	}
	pids := func() (pids []int) {
		files, _ := filepath.Glob(filepath.Join(parent, "*", runPrefix+"-*", "*.pid"))
		for _, file := range files {
			var pid int
			if data, err := os.ReadFile(file); err == nil {
				if _, err := fmt.Sscan(string(data), &pid); err == nil {
					pids = append(pids, pid)
				}
			}
		}
		return pids
	}
	for deadline := time.Now().Add(5 * time.Minute); len(pids()) < 2 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	servers := pids()
	if err := hold.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = hold.Wait()
	if len(servers) != 2 {
		t.Fatalf("the servers %v were started, expected two", servers)
	}
	for _, pid := range servers {
		for deadline := time.Now().Add(30 * time.Second); isRunning(pid) && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		if isRunning(pid) {
			t.Errorf("process %d outlives its parent", pid)
		}
	}
}

// TestServersWatchTheirParent does without the death signal of Linux: it is how the servers of
// envtest end, and how ours do on other systems.
func TestServersWatchTheirParent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("on Windows, a job object ends the servers; they do not watch their parent")
	}
	t.Parallel()
	// Only Operon's own build watches its parent; it is built if it is not in the cache.
	o := DefaultOptions(os.Environ())
	o.KubebuilderAssets, o.StoreDirs, o.NoDownload = "", nil, true
	assets, err := Ensure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	// A process that is not the parent replaces one that has ended.
	etcd := exec.Command(assets.Path(Etcd), "--data-dir="+t.TempDir(), "--listen-peer-urls=http://127.0.0.1:0", "--listen-client-urls=http://127.0.0.1:0",
		"--advertise-client-urls=http://127.0.0.1:0")
	etcd.Env = append(os.Environ(), parentVariable+"=1")
	out, err := etcd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "exiting because parent process 1 has ended") {
		t.Errorf("etcd: %v\n%s", err, out)
	}
}

func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	one := startReal(t, StartOptions{TempDir: parent})
	two := startReal(t, StartOptions{TempDir: parent})
	if one.URL == two.URL || one.Token == two.Token {
		t.Errorf("two control planes share %s", one.URL)
	}
	if code, _ := request(t, one, one.Token, "GET", "/readyz", ""); code != 200 {
		t.Errorf("the first has ended when the second starts: %d", code)
	}
}
