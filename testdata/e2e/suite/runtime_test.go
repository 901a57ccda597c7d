package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runtimeOperator is an operator without Go code, which operon-runtime runs, with a custom resource in a namespace.
type runtimeOperator struct {
	name, namespace string
	// flags are those of image build, separated by spaces.
	flags string
	// scaffold makes the project in an empty directory.
	scaffold func(t *testing.T, dir string)
	// create creates the custom resource and waits until it is ready, follow changes it and its objects, and remove removes it.
	create, follow, remove func(t *testing.T, dir string)
	// change changes the project for the next version. It returns a check of the effect on a custom resource that exists.
	change func(t *testing.T, dir string) func() error
}

// runtimeOperators are the operators with a chart and with a role.
func (b *bench) runtimeOperators(t *testing.T) []runtimeOperator {
	return []runtimeOperator{b.ledger(), b.cellar(t)}
}

// together runs a test for several operators at the same time, since most of the time is waiting. In the end, the cluster is as before.
func (b *bench) together(t *testing.T, name string, operators []runtimeOperator, test func(*testing.T, runtimeOperator)) (ok bool) {
	before := b.objects(t)
	if ok = t.Run(name, func(t *testing.T) {
		for _, o := range operators {
			t.Run(o.name, func(t *testing.T) {
				t.Parallel()
				test(t, o)
			})
		}
	}); ok { // else objects are left
		b.backTo(t, before)
	}
	return ok
}

// testRuntimeOperators scaffolds operators, deploys them with their own make targets, follows a custom resource from its creation to its
// removal, and removes the operators.
func (b *bench) testRuntimeOperators(t *testing.T) {
	b.together(t, "deployed", b.runtimeOperators(t), func(t *testing.T, o runtimeOperator) {
		dir := b.newRuntimeOperator(t, o)
		b.run(t, dir, "make", "deploy", "IMG="+b.image(o.name+":v0.0.1"))
		b.run(t, dir, "kubectl", "-n", o.name+"-system", "wait", "--for=condition=Available", "--timeout=3m", "deployment/"+o.name+"-controller-manager")
		b.progress.Done(o.name + " deployed")
		b.run(t, dir, "kubectl", "create", "namespace", o.namespace)
		b.create(t, dir, o)
		o.follow(t, dir)
		o.remove(t, dir)
		b.run(t, dir, "kubectl", "delete", "namespace", o.namespace)
		b.run(t, dir, "make", "undeploy")
		b.progress.Done(o.name + " undeployed")
	})
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

// newRuntimeOperator scaffolds an operator and pushes its image.
func (b *bench) newRuntimeOperator(t *testing.T, o runtimeOperator) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), o.name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o.scaffold(t, dir)
	b.pushRuntimeOperator(t, dir, o, "v0.0.1")
	return dir
}

// pushRuntimeOperator builds and pushes the image of a version.
func (b *bench) pushRuntimeOperator(t *testing.T, dir string, o runtimeOperator, tag string) {
	t.Helper()
	b.run(t, dir, "make", "image-build", "image-push", "IMG="+b.registry+"/"+o.name+":"+tag, "IMAGE_BUILD_FLAGS="+o.flags)
	b.progress.Done("the image of " + o.name + " " + tag + " built and pushed")
}

// testRuntimeBundles installs the operators with OLM from their bundles, for their own namespaces and for all, upgrades them to bundles of
// changed projects, and removes them.
func (b *bench) testRuntimeBundles(t *testing.T) {
	operators := b.runtimeOperators(t)
	flags := func(o runtimeOperator) []string {
		return []string{"--namespace", o.namespace, "--timeout", "10m", "--registry-mirror", "example.com=" + b.registry}
	}
	cleanup := func(t *testing.T, dir string, o runtimeOperator) {
		o.remove(t, dir)
		b.runOperon(t, 0, "cleanup", o.name, "--namespace", o.namespace, "--timeout", "10m")
		b.run(t, dir, "kubectl", "delete", "namespace", o.namespace)
	}
	install := func(t *testing.T, o runtimeOperator, mode string) string {
		dir := b.newRuntimeOperator(t, o)
		b.pushRuntimeBundle(t, dir, o, "0.0.1")
		b.run(t, dir, "kubectl", "create", "namespace", o.namespace)
		b.runOperon(t, 0, append([]string{"run", "bundle", b.image(o.name + "-bundle:v0.0.1"), "--install-mode", mode}, flags(o)...)...)
		o.create(t, dir)
		return dir
	}
	ok := b.together(t, "own namespace", operators, func(t *testing.T, o runtimeOperator) {
		cleanup(t, install(t, o, "OwnNamespace"), o)
		b.progress.Done(o.name + " runs under OLM for its own namespace")
	})
	if !ok {
		return
	}
	b.together(t, "all namespaces", operators, func(t *testing.T, o runtimeOperator) {
		dir := install(t, o, "AllNamespaces")
		isApplied := o.change(t, dir)
		b.run(t, dir, b.operon, "generate")
		b.pushRuntimeOperator(t, dir, o, "v0.0.2")
		b.pushRuntimeBundle(t, dir, o, "0.0.2")
		b.runOperon(t, 0, append([]string{"run", "bundle-upgrade", b.image(o.name + "-bundle:v0.0.2")}, flags(o)...)...)
		b.eventually(t, isApplied)
		cleanup(t, dir, o)
		b.progress.Done(o.name + " is upgraded by OLM to a changed project")
	})
}

// pushRuntimeBundle generates the bundle of a version and pushes its image.
func (b *bench) pushRuntimeBundle(t *testing.T, dir string, o runtimeOperator, version string) {
	t.Helper()
	b.run(t, dir, b.operon, "bundle", "--version", version, "--image", b.image(o.name+":v"+version))
	b.run(t, dir, b.operon, "image", "bundle", "--image", b.registry+"/"+o.name+"-bundle:v"+version, "--push", "--insecure-registry", b.registry)
}

// replaceIn replaces a text in a file, which must contain it.
func replaceIn(t *testing.T, file, from, to string) {
	t.Helper()
	text := string(read(t, file))
	if !strings.Contains(text, from) {
		t.Fatalf("%s does not contain %q", file, from)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(text, from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
