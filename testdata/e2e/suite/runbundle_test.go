package suite

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/cluster"
)

// The next version of the golden project's operator, and its bundle.
const (
	nextImage       = "memcached-operator:v0.0.2"
	nextBundleImage = "memcached-operator-bundle:v0.0.2"
)

// testManyBundles runs operators of bundles with names of their own. Those that cannot be installed say why; the others come from everywhere and
// are served in every way.
func (b *bench) testManyBundles(t *testing.T) {
	b.get(t, &b.products.manager)
	b.get(t, &b.products.shell)
	parts := slices.Concat(b.brokenBundles(), b.waysToServe(), b.certificates())
	var scope cluster.Scope
	for _, p := range parts {
		scope.Namespaces = append(scope.Namespaces, p.name)
		scope.Groups = append(scope.Groups, p.name+".example.com")
		scope.Names = append(scope.Names, p.name+".", p.name+"-")
	}
	b.sideBySide(t, "bundles", scope, parts...)
}

// testLifeOfBundle takes the golden project's operator from its bundle's image through an upgrade to its removal.
// Every command is killed at its worst moments before it is let through.
func (b *bench) testLifeOfBundle(t *testing.T) {
	b.get(t, &b.products.manager)
	b.get(t, &b.products.catalog)
	dir, nextDir := b.copyProject(t), b.get(t, &b.products.nextBundle)
	before := b.objects(t, cluster.Scope{
		Namespaces: []string{"memcached"}, Groups: []string{"cache.example.com"},
		Names: []string{"memcached-operator", "memcached-sample", "memcached-next", "memcacheds."},
	})
	b.run(t, dir, "kubectl", "create", "namespace", "memcached")
	// This machine reads bundles from where the nodes' example.com is.
	flags := []string{"--namespace", "memcached", "--timeout", "10m", "--registry-mirror", "example.com=" + b.registry}

	run := append([]string{"run", "bundle", b.image(bundleImage)}, flags...)
	b.killAt(t, "Created registry pod", run...)
	b.killAt(t, "Created Subscription", run...)
	b.killAt(t, "Approved InstallPlan", run...)
	b.says(t, b.runOperon(t, 0, run...),
		`Found ClusterServiceVersion "memcached/memcached-operator.v0.0.1" phase: Succeeded`,
		`OLM has successfully installed "memcached-operator.v0.0.1"`)
	b.eventually(t, func() error { // OLM writes what is installed to the Subscription a moment after the operator has succeeded
		out := b.runOperon(t, 1, append([]string{"run", "bundle", b.image(nextBundleImage)}, flags...)...)
		if !strings.Contains(out, "has installed memcached-operator.v0.0.1") || !strings.Contains(out, "run bundle-upgrade") {
			return fmt.Errorf("the bundle of another version: %s", out)
		}
		return nil
	})
	b.differsFrom(t, before)
	b.progress.Done("run bundle, killed three times")
	b.testReconciling(t, dir)

	b.progress.Done("the operator reconciles")
	b.eventually(t, func() error {
		_, err := b.command(dir, "kubectl", "apply", "-k", "config/samples")
		return err
	})
	uid := b.run(t, dir, "kubectl", "get", memcachedSample, "-o", "jsonpath={.metadata.uid}")
	upgrade := append([]string{"run", "bundle-upgrade", b.image(nextBundleImage)}, flags...)
	b.killAt(t, "Created CatalogSource", upgrade...)
	b.killAt(t, "Approved InstallPlan", upgrade...)
	b.says(t, b.runOperon(t, 0, upgrade...), `Successfully upgraded to "memcached-operator.v0.0.2"`)
	if image := b.run(t, dir, "kubectl", "-n", "memcached", "get", "deployment/memcached-operator-controller-manager",
		"-o", "jsonpath={.spec.template.spec.containers[0].image}"); image != b.image(nextImage) {
		t.Errorf("after the upgrade, the operator runs of %s", image)
	}
	// Else OLM makes another certificate a moment later, and no webhook answers meanwhile.
	if owner := b.run(t, dir, "kubectl", "-n", "memcached", "get", "secret/memcached-operator-controller-manager-service-cert",
		"-o", "jsonpath={.metadata.ownerReferences[*].name}"); owner != "memcached-operator.v0.0.2" {
		t.Errorf("after the upgrade, the certificate belongs to %s", owner)
	}
	b.progress.Done("run bundle-upgrade, killed twice")
	b.testConversion(t, nextDir, uid)

	b.progress.Done("the next version converts")
	cleanup := []string{"cleanup", "memcached-operator", "--namespace", "memcached", "--timeout", "10m"}
	b.killAt(t, `subscription "memcached-operator-v0-0-1-sub" deleted`, cleanup...)
	b.killAt(t, `clusterserviceversion "memcached-operator.v0.0.2" deleted`, cleanup...)
	b.says(t, b.runOperon(t, 0, cleanup...), "the operator of the package memcached-operator is removed")
	b.says(t, b.runOperon(t, 0, cleanup...), "nothing of the package memcached-operator found")
	b.run(t, dir, "kubectl", "delete", "namespace", "memcached")
	b.backTo(t, before)
	// kubectl keeps in mind for hours that v1beta1 is preferred; this command looks again.
	b.eventually(t, func() error {
		out, err := b.command(dir, "kubectl", "api-resources", "--api-group", "cache.example.com")
		if err == nil && strings.Contains(out, "memcacheds") {
			err = fmt.Errorf("after cleanup, there is still\n%s", out)
		}
		return err
	})
}

// killAt runs Operon and kills it once it has said something.
func (b *bench) killAt(t *testing.T, word string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(b.ctx, b.operon, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+b.kubeconfig)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	_ = w.Close() // the process has its own
	if err != nil {
		t.Fatal(err)
	}
	said := false
	var all strings.Builder
	for lines := bufio.NewScanner(r); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if said = strings.Contains(lines.Text(), word); said {
			break
		}
	}
	_ = cmd.Process.Kill() // on a busy machine it may have ended by itself since then
	_ = cmd.Wait()
	if !said {
		t.Fatalf("operon %s ended without saying %q:\n%s", strings.Join(args, " "), word, all.String())
	}
}

// says holds that an output has all of the words.
func (b *bench) says(t *testing.T, out string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(out, word) {
			t.Errorf("%q is missing in:\n%s", word, out)
		}
	}
}

// variant is a folder with a copy of the golden project's bundle and its Dockerfile, as that of an operator of another
// name and API group, but of the same image.
func (b *bench) variant(t *testing.T, name string, edit func(t *testing.T, csv string) string) string {
	t.Helper()
	dir := t.TempDir()
	files := []string{"bundle.Dockerfile"}
	for _, folder := range []string{"bundle/manifests", "bundle/metadata", "bundle/tests/scorecard"} {
		entries, err := os.ReadDir(filepath.Join(b.root, project, folder))
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, folder), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			files = append(files, folder+"/"+entry.Name())
		}
	}
	for _, file := range files {
		text := strings.ReplaceAll(string(read(t, filepath.Join(b.root, project, file))), "image: example.com/"+projectImage, "image: IMAGE")
		text = strings.ReplaceAll(text, "memcached-operator", name)
		text = strings.ReplaceAll(text, "cache.example.com", name+".example.com")
		text = strings.ReplaceAll(text, "image: IMAGE", "image: "+b.image(projectImage))
		if edit != nil && strings.Contains(file, "clusterserviceversion") {
			text = edit(t, text)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
