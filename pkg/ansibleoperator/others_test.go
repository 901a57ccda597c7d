package ansibleoperator_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/testdata/documented"
)

// TestOtherResources executes the example of watchOtherResources in docs/ansible.md: changes of objects that others have created start runs
// of the custom resources that they are selected for, and of no others.
func TestOtherResources(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "Memcached")
	shared, other := e.namespace+"-shared", e.namespace+"-other"
	for _, name := range []string{shared, other} {
		e.create("{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}")
	}
	e.role("memcached", "- ansible.builtin.shell: echo run >> {{ dir }}/{{ ansible_operator_meta.name }}.runs\n")
	object := func(kind, namespace, name, keys string) *unstructured.Unstructured {
		e.Helper()
		return e.create(fmt.Sprintf("{apiVersion: v1, kind: %s, metadata: {namespace: %s, name: %s%s}}", kind, namespace, name, keys))
	}
	tls := object("Secret", e.namespace, "tls", "")
	defaults := object("ConfigMap", shared, "defaults", "")
	entry := strings.NewReplacer("v1alpha1", "v1", "cache.example.com", "GROUP", "namespace: shared", "namespace: "+shared,
		"  role: memcached\n", "  role: memcached\n  vars: {dir: "+e.dir+"}\n").Replace(documented.Example(t, "ansible.md", "", "watchOtherResources"))
	e.start(entry)
	one := e.resource("Memcached", "one", "spec: {listeners: [{tlsSecret: other}, {tlsSecret: tls}]}")
	two := e.create(fmt.Sprintf("{apiVersion: %s/v1, kind: Memcached, metadata: {namespace: %s, name: two}, spec: {listeners: {tlsSecret: tls}}}", e.group, other))
	e.waitReady(one, "True/Successful")
	e.waitReady(two, "True/Successful")
	runs := func(wantOne, wantTwo int) {
		t.Helper()
		e.eventually("the runs", func() error {
			if err := e.checkRuns("one", wantOne); err != nil {
				return fmt.Errorf("one: %w", err)
			}
			return e.checkRuns("two", wantTwo)
		})
	}
	runs(1, 1)
	e.patch(tls, "stringData: {a: b}")
	runs(2, 1)
	// Objects that nothing selects.
	object("Secret", e.namespace, "unused", "")
	object("ConfigMap", shared, "unused", "")
	object("ConfigMap", e.namespace, "defaults", "")
	object("Secret", other, "tls", "") // it is new, so that the run of the other resource follows
	runs(2, 2)
	e.patch(defaults, "data: {a: b}")
	runs(3, 3)
	service := e.create("{apiVersion: v1, kind: Service, metadata: {namespace: " + other + ", name: cache}, spec: {ports: [{port: 80}]}}")
	e.patch(service, "metadata: {labels: {cache: 'true'}}")
	runs(3, 4)
	e.delete(service)
	runs(3, 5)
	e.delete(tls)
	runs(4, 5)
}
