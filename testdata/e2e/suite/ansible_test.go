package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/images"
)

const cellarNamespace = "cellar"

// cellarObject is a custom resource.
const cellarObject = `apiVersion: storage.example.com/v1alpha1
kind: Cellar
metadata:
  name: wine
  namespace: cellar
spec:
  size: 1
`

// cellar is an operator with a role, which runs memcached, in a base image with the Ansible of Debian's packages.
func (b *bench) cellar() runtimeOperator {
	return runtimeOperator{
		name: "cellar-operator", namespace: cellarNamespace, plural: "cellars", flags: b.ansibleBase,
		scaffold: b.newAnsibleOperator, create: b.createCellar, follow: b.testRole, remove: b.deleteCellar,
		change: changeRole, isChanged: b.isRoleChanged,
	}
}

// ansibleBase returns the flags of image build for the base image, which is built once.
func (b *bench) ansibleBase(t *testing.T) string {
	t.Helper()
	base, err := images.AnsibleBase(b.ctx, filepath.Join(b.cache, "e2e"), false, b.progress.Say)
	if err != nil {
		t.Fatal(err)
	}
	return "--base " + base
}

// newAnsibleOperator scaffolds an operator with the role in the directory cellar.
func (b *bench) newAnsibleOperator(t *testing.T, dir string) {
	t.Helper()
	b.run(t, dir, b.operon, "init", "--plugins", "ansible", "--domain", "example.com", "--group", "storage", "--version", "v1alpha1", "--kind", "Cellar", "--generate-role")
	for _, name := range []string{"tasks/main.yml", "defaults/main.yml", "meta/argument_specs.yml"} {
		if err := os.WriteFile(filepath.Join(dir, "roles", "cellar", name), read(t, filepath.Join("cellar", name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	replaceIn(t, filepath.Join(dir, "watches.yaml"), "  role: cellar\n", "  role: cellar\n  finalizer:\n    name: storage.example.com/record\n    vars: {state: absent}\n")
	// OpenShift chooses a user that the image does not contain, in group 0.
	replaceIn(t, filepath.Join(dir, "config", "manager", "manager.yaml"), "        runAsNonRoot: true\n", "        runAsNonRoot: true\n        runAsUser: 1000680000\n")
	// The base contains kubernetes.core. No server is reachable for the other one.
	collection := filepath.Join(b.root, "testdata", "ansible", "collections", "ansible_collections", "operator_sdk", "util")
	b.run(t, dir, "ansible-galaxy", "collection", "build", collection, "--output-path", dir)
	requirements := "collections:\n- name: operator_sdk-util-0.5.0.tar.gz\n  type: file\n"
	if err := os.WriteFile(filepath.Join(dir, "requirements.yml"), []byte(requirements), 0o644); err != nil {
		t.Fatal(err)
	}
	b.run(t, dir, b.operon, "generate")
}

// createCellar creates the custom resource and waits until it is ready.
func (b *bench) createCellar(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cellar.yaml")
	if err := os.WriteFile(file, []byte(cellarObject), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(t, dir, "kubectl", "-n", cellarNamespace, "create", "configmap", "visitors")
	b.run(t, dir, "kubectl", "apply", "-f", file)
	b.run(t, dir, "kubectl", "-n", cellarNamespace, "wait", "--for=condition=Ready", "--timeout=3m", "cellar/wine")
}

// deleteCellar deletes the custom resource, and checks that its finalizer has run and that its objects are removed.
func (b *bench) deleteCellar(t *testing.T, dir string) {
	t.Helper()
	b.run(t, dir, "kubectl", "-n", cellarNamespace, "delete", "cellar/wine", "--timeout=2m")
	if recorded := b.run(t, dir, "kubectl", "-n", cellarNamespace, "get", "configmap/visitors", "-o", "jsonpath={.data.deleted}"); recorded != "wine" {
		t.Errorf("the finalizer recorded %q", recorded)
	}
	b.eventually(t, func() error {
		if left := b.run(t, dir, "kubectl", "-n", cellarNamespace, "get", "deployments,pods", "--selector", "app=wine", "-o", "name"); left != "" {
			return fmt.Errorf("after the deletion of the Cellar:\n%s", left)
		}
		return nil
	})
	b.progress.Done("the finalizer of the Cellar has run, and its objects are removed")
}

// testRole changes the custom resource and its objects.
func (b *bench) testRole(t *testing.T, dir string) {
	kubectl := func(args ...string) string {
		return b.run(t, dir, "kubectl", append([]string{"-n", cellarNamespace}, args...)...)
	}
	if owner := kubectl("get", "deployment/wine", "-o", "jsonpath={.metadata.ownerReferences[*].kind}"); owner != "Cellar" {
		t.Errorf("the owner of the Deployment is %q", owner)
	}
	// Another run follows when the pod is ready.
	b.eventually(t, func() error {
		status := kubectl("get", "cellar/wine", "-o", `jsonpath={.status.size} {.status.conditions[?(@.type=="Successful")].status} {.status.conditions[?(@.type=="Failure")].status}`)
		if status != "1 True False" {
			return fmt.Errorf("the status is %q", status)
		}
		return nil
	})
	kubectl("patch", "cellar/wine", "--type=merge", "-p", `{"spec":{"size":2}}`)
	ready := func() error {
		out, err := b.command(dir, "kubectl", "-n", cellarNamespace, "get", "deployment/wine", "-o", "jsonpath={.status.readyReplicas}")
		if err == nil && strings.TrimSpace(out) != "2" {
			err = fmt.Errorf("%q pods are ready instead of 2", out)
		}
		return err
	}
	b.eventually(t, ready)
	pod := kubectl("get", "deployment/wine", "-o", "jsonpath={.metadata.uid}")
	kubectl("scale", "--replicas=0", "deployment/wine")
	b.eventually(t, ready)
	kubectl("delete", "deployment/wine")
	b.eventually(t, ready)
	if now := kubectl("get", "deployment/wine", "-o", "jsonpath={.metadata.uid}"); now == pod {
		t.Error("the Deployment was not deleted")
	}
	b.progress.Done("the role follows the Cellar, and repairs its objects")
}

// changeRole changes a default of the role.
func changeRole(t *testing.T, dir string) {
	t.Helper()
	replaceIn(t, filepath.Join(dir, "roles", "cellar", "defaults", "main.yml"), `memory: "64"`, `memory: "128"`)
}

// isRoleChanged checks that the changed default is applied.
func (b *bench) isRoleChanged(dir string) error {
	memory, err := b.command(dir, "kubectl", "-n", cellarNamespace, "get", "deployment/wine", "-o", `jsonpath={.metadata.annotations.storage\.example\.com/memory}`)
	if err == nil && memory != "128" {
		err = fmt.Errorf("the default of the new role is not applied: %q", memory)
	}
	return err
}
