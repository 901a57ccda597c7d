package operator

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

// clientOf returns a client of a server that simulates a cluster.
func clientOf(t *testing.T, server *httptest.Server) *kube.Client {
	t.Helper()
	client, err := kube.New(fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"+
		"clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]\nusers: [{name: u}]\n", server.URL))
	if err != nil {
		t.Fatal(err)
	}
	return client
}
