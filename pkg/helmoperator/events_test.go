package helmoperator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// counts returns how often events with a reason were emitted, for all resources or some, and their messages.
func (e *env) counts(reason string, resources ...string) (n int, messages string) {
	e.Helper()
	list := &corev1.EventList{}
	if err := e.client.List(e.Context(), list, client.InNamespace(e.namespace)); err != nil {
		e.Fatal(err)
	}
	for _, event := range list.Items {
		if (reason == "" || event.Reason == reason) && (len(resources) == 0 || slices.Contains(resources, event.InvolvedObject.Name)) {
			n += int(max(event.Count, 1))
			messages += event.Message + "\n"
		}
	}
	return n, messages
}

// TestEvents checks that there is one event for each installation, upgrade, failure, repair and removal, without the content of
// Secrets.
func TestEvents(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "password: none", map[string]string{
		"configmap.yaml": configMap, "secret.yaml": "{apiVersion: v1, kind: Secret, metadata: {name: {{ .Release.Name }}}, stringData: {v: {{ .Values.password | quote }}}}",
		"fail.yaml": `{{ if .Values.fail }}{{ fail (printf "cannot use %s" .Values.password) }}{{ end }}`,
	})))
	const secret = "hunter2-secret"
	one := func(reason, want string) {
		t.Helper()
		e.eventually("event "+reason, func() error {
			if n, _ := e.counts(reason); n == 0 {
				return errNotYet
			}
			return nil
		})
		if n, messages := e.counts(reason); n != 1 || !strings.Contains(messages, want) {
			t.Errorf("%d events %s: %s, want 1 with %q", n, reason, messages, want)
		}
	}
	obj := e.create("one", map[string]any{"text": "x", "password": secret})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	one(helmoperator.ReasonInstallSuccessful, "Installed revision 1")

	e.patch(obj, "spec: {text: z}")
	e.waitFor("one", helmoperator.ConditionDeployed, "True/UpgradeSuccessful")
	one(helmoperator.ReasonUpgradeSuccessful, "Upgraded the release to revision 2: differs: ConfigMap/one-config data.text")

	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed}")
	one(helmoperator.EventDriftRepaired, "/one-config")

	e.patch(obj, "spec: {fail: true}")
	e.waitFor("one", helmoperator.ConditionIrreconcilable, "True/ReconcileError")
	e.eventually("three failed passes", func() error {
		if n := strings.Count(e.log.String(), "cannot use"); n < 3 {
			return fmt.Errorf("%d failed passes", n)
		}
		return nil
	})
	one(helmoperator.ReasonReconcileError, "cannot use")

	e.patch(obj, "spec: {fail: false}")
	e.waitFor("one", helmoperator.ConditionIrreconcilable, "absent")
	e.delete("one")
	one(helmoperator.ReasonUninstallSuccessful, "Uninstalled the release")
	if _, messages := e.counts(""); strings.Contains(messages, secret) {
		t.Errorf("an event contains a secret: %s", messages)
	}
	for _, reason := range []string{helmoperator.ReasonInstallSuccessful, helmoperator.ReasonUpgradeSuccessful, helmoperator.ReasonReconcileError} {
		one(reason, "")
	}
}
