package proxy_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
)

// TestSecrets checks which Secrets are reported that a run reads or writes.
func TestSecrets(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var mu sync.Mutex
	reported := map[string]bool{}
	settings := proxy.Settings{CacheReads: true, Secret: func(secret map[string]any) {
		mu.Lock()
		defer mu.Unlock()
		for _, field := range []string{"data", "stringData"} {
			values, _ := secret[field].(map[string]any)
			for _, value := range values {
				reported[fmt.Sprint(value)] = true
			}
		}
	}}
	want := func(step string, values ...string) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if got := slices.Sorted(maps.Keys(reported)); strings.Join(got, " ") != strings.Join(values, " ") {
			t.Errorf("%s: reported %q, want %q", step, got, values)
		}
		clear(reported)
	}
	path := "/api/v1/namespaces/" + e.namespace + "/secrets"
	e.create(e.client, "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: "+e.namespace+"}, data: {key: YWFhYQ==}}")
	e.create(e.client, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: "+e.namespace+"}, data: {key: plain}}")
	r := e.newReader(settings)
	r.get(path+"/a", "Accept-Encoding", "gzip")
	want("get", "YWFhYQ==")
	r.get(path)
	want("list", "YWFhYQ==")
	r.waitHit(path + "/a")
	clear(reported)
	r.waitHit(path + "/a")
	want("cached get", "YWFhYQ==")
	r.get("/api/v1/namespaces/" + e.namespace + "/configmaps/a")
	r.get(path+"/a", "Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	want("other objects, and the metadata")
	r.do(http.MethodPost, path, "application/yaml", "{apiVersion: v1, kind: Secret, metadata: {name: 'not valid'}, stringData: {key: refused}}")
	want("a refused request", "refused")
	r.do(http.MethodPatch, path+"/b?fieldManager=test", "application/apply-patch+yaml", "{apiVersion: v1, kind: Secret, metadata: {name: b}, stringData: {key: bbbb}}")
	want("server-side apply", "YmJiYg==", "bbbb")
	r.do(http.MethodPatch, path+"/b", "application/json-patch+json", `[{"op": "replace", "path": "/data/key", "value": "Y2NjYw=="}]`)
	want("JSON patch", "Y2NjYw==")

	config, _ := e.register(e.owner, settings)
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "c"}, StringData: map[string]string{"key": "dddd"}}
	if _, err := c.CoreV1().Secrets(e.namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	want("protobuf", "ZGRkZA==", "dddd")
	if _, err := c.CoreV1().Secrets(e.namespace).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	want("list in protobuf", "Y2NjYw==", "YWFhYQ==", "ZGRkZA==")
}
