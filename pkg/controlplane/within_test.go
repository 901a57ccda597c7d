package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asAPIServer runs the test binary in place of kube-apiserver, and returns its exit code.
func asAPIServer(assets Assets) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err := RunAPIServer(ctx, assets, os.Getenv("PWD"), os.Args[1:], StartOptions{Environ: os.Environ(), Log: os.Stderr}, time.Now)
	if exit, ok := errors.AsType[*ExitError](err); ok {
		return exit.Code
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// startSuite starts a control plane as envtest does, in which the test binary takes the place of kube-apiserver and has dir for
// temporary files.
func startSuite(t *testing.T, dir string) *ControlPlane {
	t.Helper()
	skipIfShort(t)
	assets, err := workloadAssets()
	if err != nil {
		t.Fatal(err)
	}
	standIn := fakeAssets(t)
	if err := errors.Join(os.Remove(standIn.Path(Etcd)), LinkOrCopy(assets.Path(Etcd), standIn.Path(Etcd))); err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), "TMPDIR="+dir, "PWD="+t.TempDir())
	cp, err := Start(t.Context(), standIn, StartOptions{TempDir: t.TempDir(), Environ: append(environ, SuiteEnv(assets, standIn.Path(KubeAPIServer), os.Getenv)...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cp
}

// TestSuiteHasControllers checks what a suite gets beside its API server: pods become ready, owned objects are deleted with their owner,
// and namespaces go. The API server ends with all of it when it is asked to.
func TestSuiteHasControllers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cp := startSuite(t, dir)
	do := func(method, path, body string) string {
		t.Helper()
		code, answer := request(t, cp, cp.Token, method, path, body)
		if code >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, code, answer)
		}
		return answer
	}
	const namespace, maps = "/api/v1/namespaces/n", "/api/v1/namespaces/n/configmaps"
	do("POST", "/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}`)
	do("POST", "/apis/apps/v1/namespaces/n/deployments", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"example.com/c:1"}]}}}}`)
	owner := do("POST", maps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owner"}}`)
	_, uid, _ := strings.Cut(owner, `"uid":"`)
	uid, _, _ = strings.Cut(uid, `"`)
	do("POST", maps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owned","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+uid+`"}]}}`)
	eventually(t, cp, "/apis/apps/v1/namespaces/n/deployments/d", func(o answer) bool { return o.Status.AvailableReplicas == 2 })
	do("DELETE", maps+"/owner", "")
	untilGone(t, cp, maps+"/owned")
	do("DELETE", namespace, "")
	untilGone(t, cp, namespace)

	if runtime.GOOS == "windows" { // it knows no signals
		return
	}
	if err := cp.api.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-cp.api.done:
	case <-time.After(time.Minute):
		t.Fatal("the API server does not end")
	}
	if cp.api.err != nil {
		t.Errorf("the API server ended with %v", cp.api.err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
}

// untilGone waits until an object does not exist.
func untilGone(t *testing.T, cp *ControlPlane, path string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if code, _ := request(t, cp, cp.Token, "GET", path, ""); code == http.StatusNotFound {
			return
		}
	}
	t.Fatalf("%s stays", path)
}

func TestIsAPIServer(t *testing.T) {
	t.Parallel()
	getenv := func(name string) string { return map[string]string{suiteVariable: "/assets"}[name] }
	for line, want := range map[string]bool{
		"--allow-privileged=true --etcd-servers=http://127.0.0.1:1": true,
		"--help":             true,
		"--help test":        false,
		"--dry-run generate": false,
		"":                   false,
	} {
		if _, ours := IsAPIServer(getenv, strings.Fields(line)); ours != want {
			t.Errorf("%q: got %v", line, ours)
		}
		if _, ours := IsAPIServer(func(string) string { return "" }, strings.Fields(line)); ours {
			t.Errorf("%q is an API server without the variable", line)
		}
	}
}

// TestAPIServerFails expects the exit code of kube-apiserver.
func TestAPIServerFails(t *testing.T) {
	t.Parallel()
	for behavior, want := range map[string]int{"no": 1, "killed": 1} {
		var log strings.Builder
		o := StartOptions{TempDir: t.TempDir(), Environ: append(os.Environ(), fakeVariable(KubeAPIServer)+"="+behavior), Log: &log}
		err := RunAPIServer(t.Context(), fakeAssets(t), t.TempDir(), []string{"--help"}, o, time.Now)
		exit, ok := errors.AsType[*ExitError](err)
		if !ok || exit.Code != want || exit.Err != nil {
			t.Errorf("%s: got %v", behavior, err)
		}
		if behavior == "no" && !strings.HasSuffix(log.String(), "no") {
			t.Errorf("log:\n%s", &log)
		}
	}
}

// TestAPIServerWithoutFiles expects an error that names the missing file.
func TestAPIServerWithoutFiles(t *testing.T) {
	t.Parallel()
	err := RunAPIServer(t.Context(), fakeAssets(t), t.TempDir(), []string{"--etcd-servers=x", "--cert-dir=none"}, StartOptions{TempDir: t.TempDir()}, time.Now)
	if err == nil || !strings.Contains(err.Error(), "apiserver.crt") {
		t.Errorf("got %v", err)
	}
}

func TestEnsureVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := EnsureOptions{Version: "1.31", StoreDirs: []string{dir}, CacheDir: t.TempDir(), IndexURL: "http://127.0.0.1:1/", KubebuilderAssets: "ignored"}
	if _, err := EnsureVersion(t.Context(), o); err == nil || err.Error() != "the control plane of Kubernetes 1.31 is not installed and can't be downloaded; there is "+Version {
		t.Errorf("got %v", err)
	}
	for _, version := range []string{"1.31.4", "1.30.2"} {
		path := putPrograms(t, storeFolder(dir, version), Etcd, KubeAPIServer)
		o.Version = minorOf(version)
		if assets, err := EnsureVersion(t.Context(), o); err != nil || assets.Version != version || assets.Dir != path {
			t.Errorf("got %v, %v", assets, err)
		}
	}
	putPrograms(t, storeFolder(dir, "1.32.1"), Etcd) // of an archive that isn't complete
	o.Version = "1.20"
	if _, err := EnsureVersion(t.Context(), o); err == nil || !strings.HasSuffix(err.Error(), "; there is "+Version+", 1.31.4, 1.30.2") {
		t.Errorf("got %v", err)
	}
	o.Version, o.IndexURL = "1.32", serveIndex(t, "", archive(t, Etcd, KubeAPIServer, Kubectl), "1.32.0", "1.32.5", "1.33.0")
	if assets, err := EnsureVersion(t.Context(), o); err != nil || assets.Version != "1.32.5" || assets.Dir != storeFolder(dir, "1.32.5") {
		t.Errorf("got %v, %v", assets, err)
	}
}
