package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestWatchNamespace checks that resources are reconciled in one, several and all namespaces, and in no others, and that deleted
// objects outside of these namespaces are created again.
func TestWatchNamespace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value string
		want  []bool
	}{{"a-GROUP", []bool{true, false}}, {" a-GROUP , b-GROUP,", []bool{true, true}}, {"", []bool{true, true}}} {
		t.Run(test.value, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, "App")
			namespaces := []string{e.namespace("a"), e.namespace("b")}
			for _, namespace := range namespaces {
				e.create(e.group, "App", namespace, "one")
			}
			value := strings.ReplaceAll(test.value, "GROUP", strings.TrimSuffix(e.group, ".example.com"))
			p := e.start([]string{"WATCH_NAMESPACE=" + value}, "--reconcile-period", "1h")
			e.waitDeployed(e.group, "App", namespaces[0], "one")
			e.recreates("rbac.authorization.k8s.io/v1", "ClusterRole", "", namespaces[0]+"-one")
			e.recreates("v1", "ConfigMap", namespaces[0], "one")
			if test.want[1] {
				e.waitDeployed(e.group, "App", namespaces[1], "one")
			} else if _, err := e.get("v1", "ConfigMap", namespaces[1], "one"); !apierrors.IsNotFound(err) {
				t.Errorf("a resource in another namespace is reconciled: %v", err)
			}
			p.mustStop()
		})
	}
}

// recreates deletes an object and waits until it exists again.
func (e *env) recreates(apiVersion, kind, namespace, name string) {
	e.Helper()
	var uid any
	deleted := false
	// The watch of the kind starts after the object has been created.
	e.eventually(kind+" is created again", func() error {
		obj, err := e.get(apiVersion, kind, namespace, name)
		if err != nil {
			return err
		}
		if deleted && obj.GetUID() != uid {
			return nil
		}
		uid, deleted = obj.GetUID(), true
		return errors.Join(errors.New("deleted"), e.client.Delete(e.Context(), obj))
	})
}

// TestSelectorAndGroups checks that a selector restricts the resources, and that two kinds of the same name in two groups are
// reconciled with their own charts.
func TestSelectorAndGroups(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	other := "other." + e.group
	e.addKind(other, "App", "selector: {matchLabels: {tier: gold}}", "overrideValues: {data.region: '$REGION-{{ upper \"x\" }}'}", "typedOverrideValues: {data: {typed: \"1\"}}")
	namespace := e.namespace("a")
	e.create(e.group, "App", namespace, "first")
	e.create(other, "App", namespace, "gold", "tier: gold")
	e.create(other, "App", namespace, "silver", "tier: silver")
	p := e.start([]string{"REGION=north"})
	e.waitDeployed(e.group, "App", namespace, "first")
	e.waitDeployed(other, "App", namespace, "gold")
	obj, err := e.get("v1", "ConfigMap", namespace, "gold")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(obj.Object["data"]); got != "map[a:b region:north-X typed:1]" {
		t.Errorf("values of the overridden release: %s", got)
	}
	if _, err := e.get("v1", "ConfigMap", namespace, "silver"); !apierrors.IsNotFound(err) {
		t.Errorf("a resource that the selector does not match is reconciled: %v", err)
	}
	p.mustStop()
}

// TestKindCreatedLater checks that a kind without a CRD does not prevent others, and is reconciled once it has one.
func TestKindCreatedLater(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	later := "later." + e.group
	data, err := os.ReadFile(e.dir + "/watches.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e.write("watches.yaml", string(data)+strings.ReplaceAll(string(data), "group: "+e.group, "group: "+later))
	namespace := e.namespace("a")
	e.create(e.group, "App", namespace, "one")
	p := e.start(nil)
	e.waitDeployed(e.group, "App", namespace, "one")
	if !strings.Contains(p.output(), "the cluster does not have this kind yet") {
		t.Error("the missing kind is not reported")
	}
	e.addKind(later, "App")
	e.create(later, "App", namespace, "two")
	e.waitDeployed(later, "App", namespace, "two")
	p.mustStop()
}

// TestStartupErrors checks what is reported before anything is reconciled.
func TestStartupErrors(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	nobody := e.kubeconfig(func(c *clientcmdapi.Config) {
		for _, user := range c.AuthInfos {
			user.Impersonate = "nobody"
		}
	})
	unreachable := e.kubeconfig(func(c *clientcmdapi.Config) {
		for _, cluster := range c.Clusters {
			cluster.Server = "https://127.0.0.1:1"
		}
	})
	file := func(text string) string {
		name := fmt.Sprintf("watches-%d.yaml", time.Now().UnixNano())
		e.write(name, text)
		return e.dir + "/" + name
	}
	valid := file(fmt.Sprintf("- {group: %s, version: v1, kind: App, chart: %q}\n", e.group, e.dir+"/helm-charts/app-"+e.group))
	for name, test := range map[string]struct {
		code      int
		args      []string
		variables []string
		want      []string
	}{
		"no file":     {2, []string{"--watches-file", "none.yaml"}, nil, []string{`error: --watches-file "none.yaml": no such file; 'operon create api' writes one`}},
		"flags":       {2, []string{"--metrics-require-rbac", "--max-concurrent-reconciles", "0", "--leader-elect", "--reconcile-period", "-1s"}, []string{"WATCH_NAMESPACE=a,B_"}, []string{"--metrics-require-rbac requires --metrics-secure", `--max-concurrent-reconciles "0"`, "--leader-elect requires --leader-election-id", "--leader-elect requires --leader-election-namespace outside of a pod", `--reconcile-period "-1s"`, `WATCH_NAMESPACE: "B_"`}},
		"timeout":     {2, []string{"--timeout", "-1s"}, nil, []string{`error: --timeout "-1s": must not be negative`}},
		"empty":       {1, []string{"--watches-file", file("# none\n")}, nil, []string{"has no entries; 'operon create api' adds one"}},
		"findings":    {1, []string{"--watches-file", file("- {kind: A, chart: x}\n- {kind: B, version: v1, char: x}\n")}, nil, []string{":1:3: version is required", `:2:26: unknown key "char"; did you mean "chart"?`}},
		"charts":      {1, []string{"--watches-file", file("- {kind: A, version: v1, chart: no/a}\n- {kind: B, version: v1, chart: no/b}\n- {kind: C, version: v1, chart: .}\n")}, nil, []string{`:1:3: chart "no/a": no such file or directory`, `:2:3: chart "no/b": no such`, `:3:3: chart ".": is not a chart: it has no Chart.yaml`}},
		"template":    {1, []string{"--watches-file", file(fmt.Sprintf("- {kind: A, version: v1, chart: %q, overrideValues: {a: '{{ nonsense }}'}}\n", e.dir+"/helm-charts/app-"+e.group))}, nil, []string{":1:3: override value a: ", "nonsense"}},
		"kubeconfig":  {1, []string{"--watches-file", valid, "--kubeconfig", "none"}, nil, []string{"error: no access to a cluster: ", "; set KUBECONFIG"}},
		"unreachable": {1, []string{"--watches-file", valid, "--kubeconfig", unreachable}, nil, []string{"error: cannot reach the cluster at https://127.0.0.1:1: ", "connection refused"}},
		"forbidden":   {1, []string{"--watches-file", valid, "--kubeconfig", nobody}, []string{"WATCH_NAMESPACE=a,b"}, []string{`in the namespace "a"; add the rule to the role`, `in the namespace "b"; add the rule`, `User "nobody" cannot list resource "apps"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := *e
			sub.TB = t
			p := sub.start(test.variables, test.args...) // not in this process, whose loggers other tests use
			<-p.done
			if code := p.cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			errOut := p.output()
			for _, want := range test.want {
				if !strings.Contains(errOut, want) {
					t.Errorf("stderr does not contain %q:\n%s", want, errOut)
				}
			}
		})
	}
}

// freeAddress returns an address that no server uses.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nothing was accepted
	return l.Addr().String()
}

// TestEndpoints checks the probes, and metrics with and without authentication. The deprecated flags work.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	namespace := e.namespace("a")
	e.create(e.group, "App", namespace, "one")
	plain, secure, probes := freeAddress(t), freeAddress(t), freeAddress(t)
	p := e.start([]string{"WATCH_NAMESPACE=" + namespace, "OPERATOR_NAME=" + namespace}, "--metrics-addr", plain,
		"--health-probe-bind-address", probes, "--enable-leader-election", "--leader-election-namespace", namespace, "--zap-log-level", "debug", "--zap-encoder", "console")
	e.waitDeployed(e.group, "App", namespace, "one")
	for _, path := range []string{"/healthz", "/readyz"} {
		e.eventually(path, func() error { return getURL("http://"+probes+path, "", "ok") })
	}
	for _, metric := range []string{"helm_operator_build_info{", `resource_created_at_seconds{group="` + e.group + `",kind="App",name="one"`, "controller_runtime_reconcile_total"} {
		e.eventually(metric, func() error { return getURL("http://"+plain+"/metrics", "", metric) })
	}
	if _, err := e.get("coordination.k8s.io/v1", "Lease", namespace, namespace); err != nil {
		t.Errorf("the Lease that OPERATOR_NAME names: %v", err)
	}
	for _, want := range []string{"Flag --enable-leader-election has been deprecated, use --leader-elect", "Flag --metrics-addr has been deprecated, use --metrics-bind-address", "the variable OPERATOR_NAME is deprecated"} {
		if !strings.Contains(p.output(), want) {
			t.Errorf("the output does not contain %q", want)
		}
	}
	p.mustStop()

	e.start([]string{"WATCH_NAMESPACE=" + namespace}, "--metrics-bind-address", secure, "--metrics-secure", "--metrics-require-rbac")
	e.eventually("401", func() error { return getURL("https://"+secure+"/metrics", "", "401") })
	request := &authenticationv1.TokenRequest{}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "reader"}}
	if err := e.client.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	if err := e.client.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	e.eventually("403", func() error { return getURL("https://"+secure+"/metrics", request.Status.Token, "403") })
	e.apply("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + namespace + "-metrics}, rules: [{nonResourceURLs: [/metrics], verbs: [get]}]}")
	e.apply("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: " + namespace + "-metrics}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " +
		namespace + "-metrics}, subjects: [{kind: ServiceAccount, name: reader, namespace: " + namespace + "}]}")
	e.eventually("metrics", func() error {
		return getURL("https://"+secure+"/metrics", request.Status.Token, "helm_operator_build_info{")
	})
	if state, err := tls.Dial("tcp", secure, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}); err != nil || state.ConnectionState().NegotiatedProtocol != "http/1.1" {
		t.Errorf("HTTP/2 is enabled (%v)", err)
	}
}

// getURL returns an error unless the status and the body of a response contain a text.
func getURL(url, token, want string) error {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := c.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	body, err := io.ReadAll(response.Body)
	if text := response.Status + "\n" + string(body); !strings.Contains(text, want) {
		return fmt.Errorf("%s: %.500s (%w)", url, text, err)
	}
	return nil
}

// TestLeaderElection checks that one of two processes reconciles, and the other one after its end.
func TestLeaderElection(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	namespace := e.namespace("a")
	args := []string{"--leader-elect", "--leader-election-id", "operator", "--leader-election-namespace", namespace}
	first := e.start(nil, args...)
	e.create(e.group, "App", namespace, "one")
	e.waitDeployed(e.group, "App", namespace, "one")
	second := e.start(nil, args...)
	e.eventually("the second process is a candidate", func() error {
		if !strings.Contains(second.output(), "ttempting to acquire leader lease") {
			return errors.New(second.output())
		}
		return nil
	})
	e.create(e.group, "App", namespace, "two")
	e.waitDeployed(e.group, "App", namespace, "two")
	if strings.Contains(second.output(), "Starting workers") {
		t.Errorf("two processes reconcile:\n%s", second.output())
	}
	first.mustStop()
	e.create(e.group, "App", namespace, "three")
	e.waitDeployed(e.group, "App", namespace, "three")
	second.mustStop()
}
