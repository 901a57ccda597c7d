package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
)

// TestTokens checks that requests need the token of a run that has not ended, and that refusals are logged without tokens.
func TestTokens(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	config, release := e.register(e.owner, proxy.Settings{})
	other, _ := e.register(e.createOwner("App", e.namespace, "two"), proxy.Settings{})
	if config.BearerToken == other.BearerToken || len(config.BearerToken) < 20 {
		t.Errorf("tokens %q and %q", config.BearerToken, other.BearerToken)
	}
	const path = "/api/v1/namespaces/default"
	anonymous := rest.AnonymousClientConfig(config)
	check := func(what string, config *rest.Config, want int, header ...string) {
		t.Helper()
		code, body := e.send(config, http.MethodGet, path, "application/json", "", header...)
		if code != want {
			t.Errorf("%s: %d, want %d: %v", what, code, want, body)
		}
		if want == http.StatusUnauthorized && (body["kind"] != "Status" || body["apiVersion"] != "v1" || body["reason"] != "Unauthorized" || body["code"] != float64(want)) {
			t.Errorf("%s: %v, want a Status", what, body)
		}
	}
	check("a token", config, http.StatusOK)
	check("no token", anonymous, http.StatusUnauthorized)
	check("an unknown token", anonymous, http.StatusUnauthorized, "Authorization", "Bearer wrong-token-text")
	check("a user name", anonymous, http.StatusUnauthorized, "Authorization", "Basic b3duZXI6dW51c2Vk")
	check("the operator's token", anonymous, http.StatusUnauthorized, "Authorization", "Bearer "+e.config.BearerToken)

	// The open requests of a run end with it.
	c, err := client.NewWithWatch(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(e.namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	release()
	for range watch.ResultChan() { // until it is closed
	}
	check("the token of a run that has ended", config, http.StatusUnauthorized)
	check("the token of another run", other, http.StatusOK)

	log := e.log.String()
	if n := strings.Count(log, path); n != 5 {
		t.Errorf("%d refusals are logged:\n%s", n, log)
	}
	for _, token := range []string{config.BearerToken, other.BearerToken, "wrong-token-text", "b3duZXI6dW51c2Vk", e.config.BearerToken} {
		if strings.Contains(log, token) {
			t.Errorf("the log contains a token:\n%s", log)
		}
	}
}

// TestKubeconfig checks the kubeconfig of a run.
func TestKubeconfig(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	kubeconfig, release, err := e.proxy.Register(e.owner, proxy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	loaded, err := clientcmd.NewClientConfigFromBytes(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if namespace, _, err := loaded.Namespace(); err != nil || namespace != e.namespace {
		t.Errorf("namespace %q (%v), want the owner's", namespace, err)
	}
	config, err := loaded.ClientConfig()
	if err != nil || !strings.HasPrefix(config.Host, "https://127.0.0.1:") || len(config.CAData) == 0 || config.Insecure {
		t.Errorf("%v (%v), want TLS on 127.0.0.1", config, err)
	}
	if strings.Contains(string(kubeconfig), e.config.BearerToken) {
		t.Error("the kubeconfig contains the operator's token")
	}
	if _, _, err := e.proxy.Register(proxy.Owner{Name: "x"}, proxy.Settings{}); err == nil {
		t.Error("want an error for an incomplete owner")
	}
	if _, err := proxy.New(proxy.Config{REST: e.config, Port: e.proxy.Port()}); err == nil || !strings.Contains(err.Error(), "--proxy-port") {
		t.Errorf("a port in use: %v", err)
	}
}
