package suite

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/olm"
	"github.com/operon-sdk/operon/testdata/e2e/cluster"
	"github.com/operon-sdk/operon/testdata/e2e/images"
)

// bundleImage and catalogImage are of the golden project, pushed under these names.
const (
	bundleImage  = "memcached-operator-bundle:v0.0.1"
	catalogImage = "memcached-operator-catalog:v0.0.1"
)

// olderVersion is what the release of OLM in the program is called where an upgrade begins.
const olderVersion = "v0.45.0"

// testOLM installs OLM from its own images, lets it run the golden project's operator from a catalog, and removes it in
// every way that can go wrong. In the end the cluster is as before.
func (b *bench) testOLM(t *testing.T) {
	b.get(t, &b.products.olm)
	before := b.objects(t, cluster.Scope{})

	// The second run completes what the first was killed in.
	b.killAt(t, "created deployment olm/olm-operator", installArgs()...)
	out := b.runOperon(t, 0, installArgs()...)
	for _, row := range []string{"olm-operator", "catalog-operator", "packageserver", "subscriptions.operators.coreos.com"} {
		if !hasRow(out, row, "Installed") {
			t.Errorf("olm install says nothing of %s:\n%s", row, out)
		}
	}
	b.runOperon(t, 0, "olm", "status")
	b.progress.Done("olm install, killed once")

	b.testRepair(t)
	b.progress.Done("olm install repairs")
	b.testNoPackageServer(t)
	b.progress.Done("olm status tells of an API service that does not answer")
	b.testUpgrade(t)
	b.progress.Done("olm install upgrades")
	b.sideBySide(t, "bundles", cluster.Scope{}, append(b.eachRuntimeOperator(b.testUnderOLM),
		part{"life-of-a-bundle", b.testLifeOfBundle},
		part{"many-bundles", b.testManyBundles},
	)...)
	b.testLiveOperator(t)
	b.progress.Done("an operator runs under OLM")

	b.testUninstall(t)
	b.run(t, b.root, "kubectl", "delete", "crd", "memcacheds.cache.example.com")
	b.backTo(t, before)
}

func installArgs() []string {
	return []string{"olm", "install", "--catalog-image", "none", "--timeout", "3m"}
}

// hasRow tells whether a table has a row that begins with name and ends with status.
func hasRow(table, name, status string) bool {
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) > 2 && words[0] == name && words[len(words)-1] == status {
			return true
		}
	}
	return false
}

// pushOLM pushes OLM's images.
func (b *bench) pushOLM(t *testing.T) {
	t.Helper()
	programs := b.buildPrograms(t, images.OLMPackages, images.ClusterPackages)
	recipes := images.OLMImages()
	older := recipes[0]
	older.Name = strings.ReplaceAll(older.Name, olm.DefaultVersion, olderVersion)
	if err := images.Push(b.ctx, b.registry, programs, append(recipes, older)); err != nil {
		t.Fatal(err)
	}
}

// pushCatalog pushes the bundle of the golden project in dir, and a catalog with it.
func (b *bench) pushCatalog(t *testing.T, dir string) {
	t.Helper()
	b.runOperon(t, 0, "-C", dir, "image", "bundle", "--image", b.registry+"/"+bundleImage, "--push")
	b.runOperon(t, 0, "-C", dir, "generate", "catalog", "--image", b.image(bundleImage))
	b.runOperon(t, 0, "-C", dir, "image", "catalog", "--image", b.registry+"/"+catalogImage, "--push",
		"--registry-mirror", "quay.io="+b.registry, "--insecure-registry", b.registry)
}

// runOperon runs Operon, which must end with the code given.
func (b *bench) runOperon(t *testing.T, code int, args ...string) string {
	t.Helper()
	out, err := b.command(b.root, b.operon, args...)
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != code {
		t.Fatalf("operon %s ended with %d, not %d:\n%s", strings.Join(args, " "), got, code, out)
	}
	return out
}

// testOLMThatDoesNotStart installs OLM where that fails. As long as OLM does not run, there is no API service of its own, whose absence
// would disturb other tests.
func (b *bench) testOLMThatDoesNotStart(t *testing.T) {
	before := b.objects(t, cluster.Scope{
		Namespaces: []string{"olm", "operators"}, Groups: []string{"operators.coreos.com"},
		Names: []string{"olm-operator-", "aggregate-olm-", "system:controller:operator-lifecycle-manager", "nobody"},
	})
	b.testNoRights(t)
	b.backTo(t, before)
	b.testImageThatIsMissing(t, before)
	b.backTo(t, before)
}

// testImageThatIsMissing holds that an installation which cannot succeed says why, and that olm uninstall takes it all back.
func (b *bench) testImageThatIsMissing(t *testing.T, before objects) {
	b.eventually(t, func() error { // a busy node may not have tried to pull the image when the time is up
		out := b.runOperon(t, 1, "olm", "install", "--catalog-image", "none", "--olm-image", "quay.io/nobody/olm:v0.46.0", "--timeout", "15s")
		for _, want := range []string{"ImagePull", "quay.io/nobody/olm:v0.46.0", "what to do:"} {
			if !strings.Contains(out, want) {
				return fmt.Errorf("a missing image is not told with %q:\n%s", want, out)
			}
		}
		return nil
	})
	b.differsFrom(t, before)
	b.runOperon(t, 0, "olm", "uninstall", "--force", "--timeout", "3m")
}

// testRepair takes parts of OLM away and has them brought back. The tokens of running pods are of no use without the
// service account that they are of.
func (b *bench) testRepair(t *testing.T) {
	b.run(t, b.root, "kubectl", "-n", "olm", "delete", "serviceaccount/olm-operator-serviceaccount",
		"deployment/catalog-operator", "operatorgroup/olm-operators", "--wait")
	b.run(t, b.root, "kubectl", "delete", "crd/operatorconditions.operators.coreos.com", "clusterrole/aggregate-olm-view")
	if out := b.runOperon(t, 1, "olm", "status"); !hasRow(out, "catalog-operator", "Missing") {
		t.Errorf("olm status does not miss catalog-operator:\n%s", out)
	}
	b.runOperon(t, 0, installArgs()...)
	b.runOperon(t, 0, "olm", "status")
}

// testNoRights holds that a user who may not install OLM is told so, and changes nothing.
func (b *bench) testNoRights(t *testing.T) {
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(config, read(t, b.kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(t, b.root, "kubectl", "create", "serviceaccount", "nobody")
	token := strings.TrimSpace(b.run(t, b.root, "kubectl", "create", "token", "nobody"))
	b.run(t, b.root, "kubectl", "--kubeconfig", config, "config", "set-credentials", "nobody", "--token", token)
	b.run(t, b.root, "kubectl", "--kubeconfig", config, "config", "set-context", "--current", "--user", "nobody")
	out := b.runOperon(t, 1, append(installArgs(), "--kubeconfig", config)...)
	if !strings.Contains(out, "the cluster rejects this user") || strings.Contains(out, token) {
		t.Errorf("missing rights are not told:\n%s", out)
	}
	b.run(t, b.root, "kubectl", "delete", "serviceaccount", "nobody")
}

// testNoPackageServer stops what serves an aggregated API, and what would start it again.
func (b *bench) testNoPackageServer(t *testing.T) {
	const service = "v1.packages.operators.coreos.com"
	for _, deployment := range []string{"olm-operator", "packageserver"} {
		b.run(t, b.root, "kubectl", "-n", "olm", "scale", "--replicas=0", "deployment/"+deployment)
	}
	b.run(t, b.root, "kubectl", "wait", "--for=condition=Available=false", "--timeout=2m", "apiservice/"+service)
	if out := b.runOperon(t, 1, "olm", "status"); !strings.Contains(out, service) {
		t.Errorf("olm status does not tell of %s:\n%s", service, out)
	}
	b.runOperon(t, 0, installArgs()...)
	b.runOperon(t, 0, "olm", "status")
}

// testUpgrade makes the objects of an older release by kubectl, as its users did, and upgrades them.
func (b *bench) testUpgrade(t *testing.T) {
	b.runOperon(t, 0, "olm", "uninstall", "--force", "--timeout", "3m")
	objects := b.runOperon(t, 0, "-q", "olm", "install", "--catalog-image", "none", "--dry-run", "-o", "yaml")
	objects = strings.ReplaceAll(objects, strings.TrimPrefix(olm.DefaultVersion, "v"), strings.TrimPrefix(olderVersion, "v"))
	file := filepath.Join(t.TempDir(), "olm.yaml")
	if err := os.WriteFile(file, []byte(objects), 0o600); err != nil {
		t.Fatal(err)
	}
	b.eventually(t, func() error { // objects of kinds whose CRDs come with them take two runs
		_, err := b.command(b.root, "kubectl", "apply", "--server-side", "-f", file)
		return err
	})
	b.run(t, b.root, "kubectl", "-n", "olm", "wait", "--for=condition=Available", "--timeout=2m", "deployment/olm-operator")
	if out := b.runOperon(t, 1, installArgs()...); !strings.Contains(out, "OLM "+olderVersion+" is installed") || !strings.Contains(out, "--upgrade") {
		t.Errorf("olm install does not tell the way to upgrade:\n%s", out)
	}
	b.runOperon(t, 0, append(installArgs(), "--upgrade")...)
	if out := b.runOperon(t, 0, "olm", "status"); !strings.Contains(out, "OLM "+olm.DefaultVersion) || strings.Contains(out, "differs") {
		t.Errorf("after the upgrade:\n%s", out)
	}
}

// testLiveOperator subscribes to the golden project's operator, and has it reconcile. The certificate of its webhooks
// is OLM's.
func (b *bench) testLiveOperator(t *testing.T) {
	b.get(t, &b.products.catalog)
	file := filepath.Join(t.TempDir(), "operator.yaml")
	text := strings.ReplaceAll(string(read(t, "objects/subscription.yaml")), "CATALOG", b.image(catalogImage))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.apply(t, file)
	b.eventually(t, func() error {
		phase, err := b.command(b.root, "kubectl", "-n", "operators", "get", "csv", "memcached-operator.v0.0.1", "-o", "jsonpath={.status.phase}")
		if err != nil || phase != "Succeeded" {
			return fmt.Errorf("the operator's ClusterServiceVersion is %q: %w", phase, err)
		}
		return nil
	})
	// What package manifests are asked through is an aggregated API.
	b.eventually(t, func() error {
		out, err := b.command(b.root, "kubectl", "get", "packagemanifests", "-o", "name")
		if err == nil && !strings.Contains(out, "memcached-operator") {
			err = fmt.Errorf("the catalog's package is not served: %q", out)
		}
		return err
	})
	b.testReconciling(t, filepath.Join(b.root, project))
}

// testUninstall removes OLM with an operator: not without being asked to, through a kill, and though its namespace is
// held.
func (b *bench) testUninstall(t *testing.T) {
	out := b.runOperon(t, 1, "olm", "uninstall")
	if !strings.Contains(out, "memcached-operator") || !strings.Contains(out, "--force") {
		t.Errorf("the refusal names neither the operator nor the way on:\n%s", out)
	}
	b.run(t, b.root, "kubectl", "-n", "operators", "get", "csv", "memcached-operator.v0.0.1")

	b.apply(t, "objects/held.yaml")
	b.killAt(t, "deleted deployment olm/olm-operator", "olm", "uninstall", "--force", "--timeout", "3m")
	b.runOperon(t, 0, "olm", "uninstall", "--force", "--timeout", "3m")
	if out := b.runOperon(t, 1, "olm", "status"); !strings.Contains(out, "not installed") {
		t.Errorf("after its removal, OLM is told to be\n%s", out)
	}
}
