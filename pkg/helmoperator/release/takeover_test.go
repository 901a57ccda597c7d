package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// peerManifest is what operator-sdk's helm-operator has rendered from basicChart and the templates of TestTakeOver, as text.
const peerManifest = `---
# Source: demo/templates/secret.yaml
apiVersion: v1
kind: Secret
metadata: {name: plain}
stringData: {key: value}
---
# Source: demo/templates/random.yaml
apiVersion: v1
kind: Secret
metadata:
  name: random
data:
  password: "cGVlcg=="
---
# Source: demo/templates/service.yaml
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector: {app: web}
  ports: [{port: 80}]
---
# Source: demo/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.com/web:1
        resources: {requests: {cpu: 0.5, memory: "1024Mi"}}
`

// storePeerRelease stores a release as Helm 3 does: without apply_method and with an empty time of deletion.
func (e *env) storePeerRelease(manifest string) {
	e.Helper()
	record, err := json.Marshal(map[string]any{
		"name": "web", "namespace": e.namespace, "version": 1, "manifest": manifest, "config": map[string]any{"replicas": 2},
		"info": map[string]any{
			"first_deployed": "2025-01-02T03:04:05.678901234Z", "last_deployed": "2025-01-02T03:04:05.678901234Z", "deleted": "",
			"description": "Install complete", "status": "deployed", "notes": "notes",
		},
		"chart": map[string]any{
			"metadata":  map[string]any{"name": "demo", "version": "1.0.0", "apiVersion": "v2"},
			"lock":      nil,
			"templates": []any{map[string]any{"name": "templates/service.yaml", "data": base64.StdEncoding.EncodeToString([]byte("x"))}},
			"values":    map[string]any{"replicas": 1}, "schema": nil, "files": nil,
		},
	})
	if err != nil {
		e.Fatal(err)
	}
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if _, err := writer.Write(record); err != nil {
		e.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		e.Fatal(err)
	}
	secret := &v1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "sh.helm.release.v1.web.v1", Labels: map[string]string{"name": "web", "owner": "helm", "status": "deployed", "version": "1"},
			OwnerReferences: []metav1.OwnerReference{newOwner(e.owner).reference()},
		},
		Type: "helm.sh/release.v1", Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(compressed.Bytes()))},
	}
	if _, err := e.factory.core.Secrets(e.namespace).Create(e.Context(), secret, metav1.CreateOptions{FieldManager: FieldManager}); err != nil {
		e.Fatal(err)
	}
	objects, err := parseManifest(manifest)
	if err != nil {
		e.Fatal(err)
	}
	for _, object := range objects {
		peer := &Release{factory: e.factory, namespace: e.namespace, name: "web", owner: newOwner(e.owner)}
		info, err := peer.info(object.Unstructured)
		if err != nil {
			e.Fatal(err)
		}
		object.SetLabels(map[string]string{ChartLabel: "demo", "app.kubernetes.io/managed-by": "Helm"})
		object.SetAnnotations(map[string]string{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": e.namespace})
		object.SetOwnerReferences([]metav1.OwnerReference{peer.owner.reference()})
		if _, err := peer.create(e.Context(), info); err != nil {
			e.Fatal(err)
		}
	}
}

// TestTakeOver continues a release of operator-sdk's helm-operator without changing an object.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.storePeerRelease(peerManifest)
	chart := e.chart(basicChart + "-- templates/random.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: random}\ndata: {password: {{ randAlphaNum 9 | b64enc }}}\n")
	references := []string{"v1 Secret plain", "v1 Secret random", "v1 Service web", "apps/v1 Deployment web"}
	before := map[string]string{}
	for _, reference := range references {
		before[reference] = e.must(reference).GetResourceVersion()
	}
	release := e.release(chart, map[string]any{"replicas": int64(2)})
	e.settled(release)
	for _, reference := range references {
		if after := e.must(reference).GetResourceVersion(); after != before[reference] {
			t.Errorf("%s has changed", reference)
		}
	}
	if records := e.records(); records != "1 deployed" {
		t.Errorf("records %s", records)
	}

	port := e.release(chart, map[string]any{"replicas": int64(2), "port": int64(81)})
	e.upgrade(port)
	live := e.must("apps/v1 Deployment web")
	if live.GetGeneration() != 1 || live.GetResourceVersion() != before["apps/v1 Deployment web"] {
		t.Error("the deployment has changed")
	}
	if password := e.field("v1 Secret random", "data", "password"); password != "cGVlcg==" {
		t.Errorf("password %s", password)
	}
	e.settled(port)
	for _, secret := range e.secrets() {
		if len(secret.OwnerReferences) != 1 || secret.OwnerReferences[0].UID != e.owner.GetUID() {
			t.Errorf("%s: owners %v", secret.Name, secret.OwnerReferences)
		}
	}
	e.uninstall(nil)
	for _, reference := range references {
		e.mustNot(reference)
	}
}
