package proxy_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
)

// TestUnreachable checks the response if the API server is down.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *proxy.Config) {
		c.REST, c.HTTPClient = rest.CopyConfig(c.REST), nil
		c.REST.Host = "https://127.0.0.1:1"
	})
	config, _ := e.register(e.owner, proxy.Settings{})
	for method, path := range map[string]string{
		http.MethodGet: "/version", http.MethodPost: "/api/v1/namespaces/default/configmaps", http.MethodPut: "/api/v1/namespaces/default/configmaps/a",
	} {
		code, body := e.send(config, method, path, "application/json", "{}")
		if message, _ := body["message"].(string); code != http.StatusServiceUnavailable || body["kind"] != "Status" || !strings.Contains(message, "cannot reach the API server") {
			t.Errorf("%s: %d %v", method, code, body)
		}
	}
}

// TestContinue checks that a request that waits for 100 Continue receives it once, whether or not the proxy reads the body.
func TestContinue(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	config, _ := e.register(e.owner, proxy.Settings{WatchDependents: true, Requeue: func(types.NamespacedName, time.Duration) bool { return true }})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.CAData)
	address := strings.TrimPrefix(config.Host, "https://")
	for name, c := range map[string]struct{ method, path, contentType, body string }{
		"created":     {http.MethodPost, "/api/v1/namespaces/" + e.namespace + "/configmaps", "application/json", `{"metadata":{"name":"continued"}}`},
		"changed":     {http.MethodPatch, "/api/v1/namespaces/" + e.namespace, "application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`},
		"subresource": {http.MethodPatch, "/api/v1/namespaces/" + e.namespace + "/status", "application/merge-patch+json", `{"metadata":{"labels":{"a":"c"}}}`},
		"review":      {http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "application/json", `{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`},
	} {
		conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
			c.method, c.path, address, config.BearerToken, c.contentType, len(c.body))
		reader := bufio.NewReader(conn)
		line, err := reader.ReadString('\n')
		fmt.Fprint(conn, c.body)
		rest, restErr := io.ReadAll(reader)
		if err := errors.Join(err, restErr, conn.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := strings.Count(line+string(rest), "HTTP/1.1 100"); n != 1 || !strings.Contains(string(rest), "HTTP/1.1 20") {
			t.Errorf("%s: %d times 100 Continue in %s%s", name, n, line, rest)
		}
	}
}

// TestBrokenResponse checks that a request is counted once if the proxy cannot read the response.
func TestBrokenResponse(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	e := newEnv(t, through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err == nil && strings.HasSuffix(r.URL.Path, "/configmaps/a") {
			response.Body = io.NopCloser(iotest.ErrReader(errors.New("connection reset")))
		}
		return response, err
	}), func(c *proxy.Config) { c.Registry = registry })
	e.create(e.client, e.configMapText("a"))
	config, _ := e.register(e.owner, proxy.Settings{CacheReads: true})
	if code, body := e.send(config, http.MethodGet, "/api/v1/namespaces/"+e.namespace+"/configmaps/a", "application/json", ""); code != http.StatusServiceUnavailable {
		t.Errorf("%d %v", code, body)
	}
	metrics, err := registry.Gather()
	if err != nil || len(metrics) != 1 || len(metrics[0].GetMetric()) != 1 || metrics[0].GetMetric()[0].GetCounter().GetValue() != 1 {
		t.Errorf("metrics %v (%v), want one request", metrics, err)
	}
}

// TestImpersonation checks that the API server decides about impersonation, and that an operator which impersonates a user itself does
// not let runs leave it.
func TestImpersonation(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	user := e.namespace + "-user"
	role := &rbacv1.Role{}
	role.Namespace, role.Name = e.namespace, user
	role.Rules = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}}}
	binding := &rbacv1.RoleBinding{RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user}, Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}}
	binding.Namespace, binding.Name = e.namespace, user
	if err := e.client.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	if err := e.client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	config, _ := e.register(e.owner, proxy.Settings{})
	secrets := "/api/v1/namespaces/" + e.namespace + "/secrets"
	if code, body := e.send(config, http.MethodGet, secrets, "application/json", "", "Impersonate-User", user); code != http.StatusForbidden {
		t.Errorf("an impersonated user without permission: %d %v", code, body)
	}
	e.proxy = e.startProxy(func(c *proxy.Config) {
		c.REST, c.HTTPClient = rest.CopyConfig(c.REST), nil
		c.REST.Impersonate.UserName = user
	})
	config, _ = e.register(e.owner, proxy.Settings{})
	for _, header := range [][]string{nil, {"Impersonate-User", "system:admin"}, {"Impersonate-Group", "system:masters"}, {"X-Remote-User", "system:admin"}} {
		if code, body := e.send(config, http.MethodGet, secrets, "application/json", "", header...); code != http.StatusForbidden {
			t.Errorf("%q: %d %v", header, code, body)
		}
	}
	e.eventually("the permission of the user", func() error {
		if code, body := e.send(config, http.MethodGet, strings.Replace(secrets, "secrets", "configmaps", 1), "application/json", ""); code != http.StatusOK {
			return errorOf(body)
		}
		return nil
	})
}
