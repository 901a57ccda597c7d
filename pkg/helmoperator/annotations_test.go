package helmoperator_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// TestForceAnnotations checks that upgrades and rollbacks replace objects only with their annotations. A replacement resets the fields
// of others.
func TestForceAnnotations(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "port: 80", map[string]string{
		"service.yaml": "{apiVersion: v1, kind: Service, metadata: {name: {{ .Release.Name }}-a}, spec: {ports: [{port: {{ .Values.port }}}]}}",
		"job.yaml":     failingHook,
	})))
	for name, test := range map[string]struct {
		annotation, value, change string
		replaced                  bool
		result                    string
	}{
		"upgrade":        {helmoperator.AnnotationUpgradeForce, "false", "port: 81", false, helmoperator.ConditionReady},
		"upgrade-force":  {helmoperator.AnnotationUpgradeForce, "true", "port: 81", true, helmoperator.ConditionReady},
		"rollback":       {helmoperator.AnnotationUpgradeForce, "false", "port: 81, fail: true", false, helmoperator.ConditionReleaseFailed},
		"rollback-false": {helmoperator.AnnotationRollbackForce, "false", "port: 81, fail: true", false, helmoperator.ConditionReleaseFailed},
		"rollback-force": {helmoperator.AnnotationRollbackForce, "true", "port: 81, fail: true", true, helmoperator.ConditionReleaseFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &env{T: t, namespace: e.namespace, gvk: e.gvk, config: e.config, client: e.client, log: e.log}
			obj := e.create(name, nil, func(obj *unstructured.Unstructured) {
				obj.SetAnnotations(map[string]string{test.annotation: test.value})
			})
			e.waitFor(name, helmoperator.ConditionReady, "True/ObjectsReady")
			service, err := e.get("v1", "Service", name+"-a")
			if err != nil {
				t.Fatal(err)
			}
			e.patch(service, "spec: {sessionAffinity: ClientIP}")
			e.patch(obj, "spec: {"+test.change+"}")
			reason := map[string]string{helmoperator.ConditionReady: "True/ObjectsReady", helmoperator.ConditionReleaseFailed: "True/UpgradeError"}[test.result]
			e.waitFor(name, test.result, reason)
			if service, err = e.get("v1", "Service", name+"-a"); err != nil {
				t.Fatal(err)
			}
			affinity, _, _ := unstructured.NestedString(service.Object, "spec", "sessionAffinity")
			if got := affinity == "None"; got != test.replaced {
				t.Errorf("replaced: %t, want %t (sessionAffinity %s)", got, test.replaced, affinity)
			}
		})
	}
}
