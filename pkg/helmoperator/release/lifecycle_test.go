package release

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const basicChart = `
-- values.yaml --
replicas: 1
port: 80
-- templates/deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.com/web:1
        resources: {requests: {cpu: 0.5, memory: "1024Mi"}}
-- templates/service.yaml --
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {app: web}
  ports: [{port: {{ .Values.port }}}]
-- templates/secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: plain}
stringData: {key: value}
-- templates/NOTES.txt --
Release {{ .Release.Name }} revision {{ .Release.Revision }}
`

// TestLifecycle takes a release through all actions.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(basicChart)
	deployed := e.install(e.release(chart, map[string]any{"replicas": int64(2)}))
	if deployed.Revision != 1 || deployed.Notes != "Release web revision 1\n" && deployed.Notes != "Release web revision 1" || len(deployed.Objects) != 3 {
		t.Errorf("deployed: %+v", deployed)
	}
	e.settled(e.release(chart, map[string]any{"replicas": int64(2)}))

	for _, reference := range []string{"apps/v1 Deployment web", "v1 Service web", "v1 Secret plain"} {
		object := e.must(reference)
		owners := object.GetOwnerReferences()
		if len(owners) != 1 || owners[0].UID != e.owner.GetUID() || owners[0].Controller == nil || !*owners[0].Controller ||
			object.GetLabels()[ChartLabel] != "demo" {
			t.Errorf("%s: %v %v", reference, owners, object.GetLabels())
		}
	}

	deployed = e.upgrade(e.release(chart, map[string]any{"replicas": int64(3)}))
	if deployed.Revision != 2 || e.field("apps/v1 Deployment web", "spec", "replicas") != "3" {
		t.Errorf("upgraded: %+v", deployed)
	}
	changed := e.release(chart, map[string]any{"replicas": int64(3)})
	e.settled(changed)

	e.update("apps/v1 Deployment web", func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, int64(7), "spec", "replicas")
		_ = unstructured.SetNestedField(o.Object, "added", "metadata", "annotations", "other")
		o.SetOwnerReferences(nil)
	})
	e.remove("v1 Service web")
	repaired := e.repair(changed)
	if len(repaired) != 2 || repaired[0].String() != "Service/"+e.namespace+"/web" || !repaired[0].Created || repaired[1].Created {
		t.Errorf("repaired %+v", repaired)
	}
	live := e.must("apps/v1 Deployment web")
	if replicas, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas"); replicas != 3 ||
		live.GetAnnotations()["other"] != "added" || len(live.GetOwnerReferences()) != 1 {
		t.Errorf("repaired deployment: %v %v %v", replicas, live.GetAnnotations(), live.GetOwnerReferences())
	}
	e.settled(changed)
	e.upgrade(e.release(chart, nil)) // empty values are not the values of the last revision
	if replicas := e.field("apps/v1 Deployment web", "spec", "replicas"); replicas != "1" {
		t.Errorf("replicas %s", replicas)
	}

	e.uninstall(nil)
	for _, reference := range []string{"apps/v1 Deployment web", "v1 Service web", "v1 Secret plain"} {
		e.mustNot(reference)
	}
	if removal := e.uninstall(nil); !removal.Done {
		t.Errorf("second uninstallation: %+v", removal)
	}
}
