package helmoperator_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

const clusterRole = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Namespace }}-{{ .Release.Name }}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get]}
`

// TestDrift checks that changes and deletions of namespaced and cluster-scoped objects are repaired without a period.
func TestDrift(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap, "role.yaml": clusterRole})))
	e.create("one", map[string]any{"text": "x"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")

	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: e.namespace + "-one"}}
	readRole := func() error { return e.client.Get(e.Context(), client.ObjectKeyFromObject(role), role) }
	if err := readRole(); err != nil {
		t.Fatal(err)
	}
	role.Rules[0].Verbs = []string{"list"}
	if err := e.client.Update(e.Context(), role); err != nil {
		t.Fatal(err)
	}
	e.eventually("the ClusterRole is repaired", func() error {
		if err := readRole(); err != nil || !slices.Equal(role.Rules[0].Verbs, []string{"get"}) {
			return fmt.Errorf("rules %v (%w)", role.Rules, err)
		}
		return nil
	})
	uid := role.UID
	if err := e.client.Delete(e.Context(), role); err != nil {
		t.Fatal(err)
	}
	e.eventually("the ClusterRole is created again", func() error {
		if err := readRole(); err != nil || role.UID == uid {
			return errors.Join(err, errNotYet)
		}
		return nil
	})

	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed}")
	e.eventually("the ConfigMap is repaired", func() error {
		if config, err = e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "x" {
			return fmt.Errorf("%v (%w)", config.Object["data"], err)
		}
		return nil
	})
	if got := e.revisions(); len(got) != 1 {
		t.Errorf("revisions %v, want no upgrade", got)
	}
}

// TestUnchanged checks that passes without changes write nothing.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var requests requests
	e.startWith(requests.wrap(e.config), nil, []helmoperator.Option{
		helmoperator.WithGroupVersionKind(e.gvk), helmoperator.WithReconcilePeriod(200 * time.Millisecond),
		helmoperator.WithChart(chart("app", "", map[string]string{"configmap.yaml": configMap, "role.yaml": clusterRole})),
	})
	e.create("one", map[string]any{"text": "x"})
	obj := e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	requests.take()
	// As soon as the watches have listed the objects, a pass reads only the records of releases.
	var seen []string
	e.eventually("passes without other requests", func() error {
		seen = append(seen, requests.take()...)
		last := seen[max(0, len(seen)-20):]
		if others := slices.DeleteFunc(slices.Clone(last), func(r string) bool { return strings.Contains(r, "/secrets?") }); len(last) < 20 || len(others) > 0 {
			return fmt.Errorf("requests %q", others)
		}
		return nil
	})
	for _, r := range seen {
		if !strings.HasPrefix(r, http.MethodGet) {
			t.Errorf("a pass without changes sends %s", r)
		}
	}
	after, err := e.resource("one")
	if err != nil || after.GetResourceVersion() != obj.GetResourceVersion() {
		t.Errorf("the resource was written (%v)", err)
	}
}

// TestNondeterministic checks that templates with random content cause no upgrades and are reported.
func TestNondeterministic(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithReconcilePeriod(100*time.Millisecond), helmoperator.WithChart(chart("app", "", map[string]string{
		"secret.yaml": `apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-secret
data:
  password: {{ randAlphaNum 20 | b64enc }}
  ca: {{ (genCA "x" 365).Cert | b64enc }}
stringData:
  time: {{ now | quote }}
`, "configmap.yaml": configMap,
	})))
	e.create("one", map[string]any{"text": "x"})
	obj := e.waitFor("one", helmoperator.ConditionDeterministic, "False/NondeterministicTemplate")
	if _, message := conditionOf(obj, helmoperator.ConditionDeterministic); !strings.Contains(message, "one-secret data.password") {
		t.Errorf("message %q, want the field", message)
	}
	secret, err := e.get("v1", "Secret", "one-secret")
	if err != nil {
		t.Fatal(err)
	}
	e.eventuallyEvents(helmoperator.EventNondeterministic, 1)
	e.patch(obj, `spec: {text: "y"}`)
	e.waitFor("one", helmoperator.ConditionDeployed, "True/UpgradeSuccessful")
	e.waitFor("one", helmoperator.ConditionDeterministic, "False/NondeterministicTemplate")
	after, err := e.get("v1", "Secret", "one-secret")
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range secret.Object["data"].(map[string]any) {
		if after.Object["data"].(map[string]any)[key] != value {
			t.Errorf("%s of the Secret has changed", key)
		}
	}
	if got := e.revisions(); len(got) != 2 {
		t.Errorf("revisions %v, want one upgrade", got)
	}
	e.eventuallyEvents(helmoperator.EventNondeterministic, 1)
}

// events returns the messages of the events with a reason.
func (e *env) events(reason string) []string {
	e.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("v1")
	list.SetKind("EventList")
	if err := e.client.List(e.Context(), list, client.InNamespace(e.namespace)); err != nil {
		e.Fatal(err)
	}
	var messages []string
	for _, event := range list.Items {
		if event.Object["reason"] == reason {
			messages = append(messages, event.Object["message"].(string))
		}
	}
	slices.Sort(messages)
	return messages
}

// eventuallyEvents waits until there are n events with a reason, and returns their messages.
func (e *env) eventuallyEvents(reason string, n int) []string {
	e.Helper()
	var messages []string
	e.eventually("events "+reason, func() error {
		if messages = e.events(reason); len(messages) != n {
			return fmt.Errorf("%d events, want %d: %q", len(messages), n, messages)
		}
		return nil
	})
	return messages
}

// TestForbiddenKind checks that a kind that cannot be watched does not prevent others from being reconciled.
func TestForbiddenKind(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	user := e.namespace + "-user"
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	all := []string{"*"}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbacv1.PolicyRule{
		rule("example.com", "*", all...), rule("", "secrets", all...), rule("", "events", all...), rule("", "namespaces", "get"),
		rule("", "configmaps", all...), rule("", "serviceaccounts", "get", "create", "patch", "delete"),
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	for _, obj := range []client.Object{role, binding} {
		if err := e.client.Create(e.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	config := rest.CopyConfig(e.config)
	config.Impersonate.UserName = user
	e.startWith(config, nil, []helmoperator.Option{
		helmoperator.WithGroupVersionKind(e.gvk), helmoperator.WithReconcilePeriod(time.Hour),
		helmoperator.WithChart(chart("app", "", map[string]string{
			"account.yaml": "{apiVersion: v1, kind: ServiceAccount, metadata: {name: {{ .Release.Name }}}}", "configmap.yaml": configMap,
		})),
	})
	e.create("one", map[string]any{"text": "x"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	config2, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config2, "data: {text: changed}")
	e.eventually("the ConfigMap is repaired", func() error {
		if config2, err = e.get("v1", "ConfigMap", "one-config"); err != nil || text(config2) != "x" {
			return errors.Join(err, errNotYet)
		}
		return nil
	})
	e.create("two", map[string]any{"text": "x"})
	e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	e.eventually("the watch is reported", func() error {
		if n := strings.Count(e.log.String(), "cannot watch a kind"); n != 1 {
			return fmt.Errorf("%d messages", n)
		}
		return nil
	})
}
