package stage_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// run is what two runs of the same operator leave, with SUFFIX, UID, TIME and VERSION of the run. The Job isn't rendered, but referred to.
const run = `apiVersion: v1
kind: Pod
metadata: {name: web-SUFFIX, generateName: web-, namespace: a, uid: UID-1, resourceVersion: "VERSION", creationTimestamp: "2026-01-01T00:00:0TIMEZ", ownerReferences: [{kind: App, name: web, uid: UID-2}]}
spec: {nodeName: nodeTIME, volumes: [{name: kube-api-access-SUFFIX}]}
status: {podIP: 10.0.0.TIME, startTime: "2026-01-01T00:00:0TIMEZ", phase: Running}
---
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: a, uid: UID-3, creationTimestamp: "2026-01-01T00:00:0TIMEZ"}
data: {password: SECRET}
---
apiVersion: example.com/v1
kind: App
metadata: {name: web, namespace: a, uid: UID-2, generation: TIME}
status:
  observedGeneration: TIME
  pods: [web-SUFFIX]
  job: import-SUFFIX
  message: pod web-SUFFIX of UID-2 runs
  conditions: [{type: Ready, lastTransitionTime: "2026-01-01T00:00:0TIMEZ"}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: a, uid: UID-4}
spec: {clusterIP: 10.1.0.TIME, clusterIPs: [10.1.0.TIME], ports: [{port: 80, nodePort: 3000TIME}]}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: leader-SUFFIX, namespace: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-root-ca.crt, namespace: a}
---
apiVersion: batch/v1
kind: Job
metadata: {name: import-SUFFIX, generateName: import-, namespace: a}
`

func normalized(t *testing.T, pairs ...string) string {
	t.Helper()
	objects, err := kube.Decode([]byte(strings.NewReplacer(pairs...).Replace(run)))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	rendered := slices.DeleteFunc(slices.Clone(objects), func(o *kube.Object) bool { return o.GetKind() == "Job" })
	for _, o := range stage.Normalize(rendered, objects) {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, "---\n")
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	one := normalized(t, "SUFFIX", "abcde", "UID", "1234-5678", "TIME", "1", "VERSION", "7", "SECRET", "YWJj")
	two := normalized(t, "SUFFIX", "vwxyz", "UID", "8765-4321", "TIME", "2", "VERSION", "9", "SECRET", "eHl6")
	if one != two {
		t.Errorf("two runs differ:\n%s\n%s", one, two)
	}
	const want = `apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: a
  ownerReferences:
  - kind: App
    name: web
    uid: UID
spec:
  volumes:
  - name: kube-api-access
status:
  phase: Running
  startTime: TIME
---
apiVersion: v1
data:
  password: 3 bytes
kind: Secret
metadata:
  name: web
  namespace: a
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: a
spec:
  ports:
  - port: 80
---
apiVersion: example.com/v1
kind: App
metadata:
  name: web
  namespace: a
status:
  conditions:
  - lastTransitionTime: TIME
    type: Ready
  job: import-1
  message: pod web-1 of UID runs
  pods:
  - web-1
`
	if one != want {
		t.Errorf("got:\n%s", one)
	}
}
