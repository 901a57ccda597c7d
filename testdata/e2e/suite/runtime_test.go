package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/cluster"
)

// runtimeOperator is an operator without Go code, which operon-runtime runs, with a custom resource in a namespace.
type runtimeOperator struct {
	name, namespace, plural string
	// flags returns the flags of image build, separated by spaces. It may be nil.
	flags func(t *testing.T) string
	// scaffold makes the project in an empty directory.
	scaffold func(t *testing.T, dir string)
	// create creates the custom resource and waits until it is ready, follow changes it and its objects, and remove removes it.
	create, follow, remove func(t *testing.T, dir string)
	// change changes the project for the next version, and isChanged checks the effect on a custom resource that exists.
	change    func(t *testing.T, dir string)
	isChanged func(dir string) error
}

// runtimeOperators are the operators with a chart and with a role.
func (b *bench) runtimeOperators() []runtimeOperator {
	return []runtimeOperator{b.ledger(), b.cellar()}
}

// eachRuntimeOperator returns a test for each of the operators.
func (b *bench) eachRuntimeOperator(test func(*testing.T, runtimeOperator)) (parts []part) {
	for _, o := range b.runtimeOperators() {
		parts = append(parts, part{o.name, func(t *testing.T) { test(t, o) }})
	}
	return parts
}

// scope returns the scope of the operator and its custom resource, which is in its namespace.
func (o runtimeOperator) scope() cluster.Scope {
	return cluster.Scope{Namespaces: []string{o.namespace, o.name + "-system"}, Names: []string{o.name, o.plural + ".storage.example.com"}}
}

// testDeployed deploys an operator with its own make targets, follows a custom resource from its creation to its removal, and removes the
// operator.
func (b *bench) testDeployed(t *testing.T, o runtimeOperator) {
	dir := copyTo(t, filepath.Join(t.TempDir(), o.name), b.get(t, b.products.projects[o.name]))
	before := b.objects(t, o.scope())
	b.run(t, dir, "make", "deploy", "IMG="+b.image(o.name+":v0.0.1"))
	b.run(t, dir, "kubectl", "-n", o.name+"-system", "wait", "--for=condition=Available", "--timeout=3m", "deployment/"+o.name+"-controller-manager")
	b.differsFrom(t, before)
	b.progress.Done(o.name + " deployed")
	b.run(t, dir, "kubectl", "create", "namespace", o.namespace)
	b.create(t, dir, o)
	o.follow(t, dir)
	o.remove(t, dir)
	b.run(t, dir, "kubectl", "delete", "namespace", o.namespace)
	b.run(t, dir, "make", "undeploy")
	b.backTo(t, before)
	b.progress.Done(o.name + " undeployed")
}

// create creates the custom resource. If it does not become ready, the log of the operator explains why.
func (b *bench) create(t *testing.T, dir string, o runtimeOperator) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			out, err := b.command(dir, "kubectl", "logs", "--all-containers", "--prefix", "--tail", "50", "--namespace", o.name+"-system", "--selector", "control-plane=controller-manager")
			t.Logf("%s%v", out, err)
		}
	})
	o.create(t, dir)
}

// pushRuntimeOperator builds and pushes the image of a version.
func (b *bench) pushRuntimeOperator(t *testing.T, dir string, o runtimeOperator, tag string) {
	t.Helper()
	flags := ""
	if o.flags != nil {
		flags = o.flags(t)
	}
	b.run(t, dir, "make", "image-build", "image-push", "IMG="+b.registry+"/"+o.name+":"+tag, "IMAGE_BUILD_FLAGS="+flags)
}

// testUnderOLM installs an operator with OLM from its bundle, for its own namespace and then for all, upgrades it to the bundle of a changed
// project, and removes it.
func (b *bench) testUnderOLM(t *testing.T, o runtimeOperator) {
	dir := b.get(t, b.products.bundles[o.name])
	before := b.objects(t, o.scope())
	flags := []string{"--namespace", o.namespace, "--timeout", "10m", "--registry-mirror", "example.com=" + b.registry}
	for _, mode := range []string{"OwnNamespace", "AllNamespaces"} {
		b.run(t, dir, "kubectl", "create", "namespace", o.namespace)
		b.runOperon(t, 0, append([]string{"run", "bundle", b.image(o.name + "-bundle:v0.0.1"), "--install-mode", mode}, flags...)...)
		o.create(t, dir)
		b.differsFrom(t, before)
		if mode == "AllNamespaces" {
			b.get(t, b.products.upgrades[o.name])
			b.runOperon(t, 0, append([]string{"run", "bundle-upgrade", b.image(o.name + "-bundle:v0.0.2")}, flags...)...)
			b.eventually(t, func() error { return o.isChanged(dir) })
			b.progress.Done(o.name + " is upgraded by OLM to a changed project")
		}
		o.remove(t, dir)
		b.runOperon(t, 0, "cleanup", o.name, "--namespace", o.namespace, "--timeout", "10m")
		b.run(t, dir, "kubectl", "delete", "namespace", o.namespace)
		b.backTo(t, before)
		b.progress.Done(o.name + " ran under OLM with the install mode " + mode)
	}
}

// pushRuntimeBundle generates the bundle of a version and pushes its image.
func (b *bench) pushRuntimeBundle(t *testing.T, dir string, o runtimeOperator, version string) {
	t.Helper()
	b.run(t, dir, b.operon, "bundle", "--version", version, "--image", b.image(o.name+":v"+version))
	b.run(t, dir, b.operon, "image", "bundle", "--image", b.registry+"/"+o.name+"-bundle:v"+version, "--push", "--insecure-registry", b.registry)
}

// replaceIn replaces the first occurrence of a string in a file, which must contain it.
func replaceIn(t *testing.T, file, from, to string) { replaceNIn(t, file, from, to, 1) }

// replaceAllIn replaces a string in a file, which must contain it.
func replaceAllIn(t *testing.T, file, from, to string) { replaceNIn(t, file, from, to, -1) }

func replaceNIn(t *testing.T, file, from, to string, n int) {
	t.Helper()
	text := string(read(t, file))
	if !strings.Contains(text, from) {
		t.Fatalf("%s does not contain %q", file, from)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(text, from, to, n)), 0o644); err != nil {
		t.Fatal(err)
	}
}
