package operator

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// mailOptions returns the options for a bundle that supports all install modes.
func mailOptions() RunOptions {
	return RunOptions{Namespace: "mem", Bundle: Bundle{
		Package: "mail.operator", CSV: "mail.operator.v1.0.0", Channel: Channel, Image: "example.com/bundle:v1", Catalog: []byte("schema: olm.package\n"), Modes: Modes(),
	}, Serving: Serving{IndexImage: "example.com/opm:v1", PullPolicy: "Always"}}
}

// objectsOf returns the objects by their kinds.
func objectsOf(t *testing.T, o RunOptions) (kinds []string, byKind map[string]*kube.Object) {
	t.Helper()
	objects, err := Objects(o)
	if err != nil {
		t.Fatal(err)
	}
	byKind = map[string]*kube.Object{}
	for _, object := range objects {
		kinds, byKind[object.GetKind()] = append(kinds, object.GetKind()), object
		if !isManaged(object, o.Bundle.Package) || object.GetNamespace() != o.Namespace {
			t.Errorf("%s has the labels %v", kube.FullName(object), object.GetLabels())
		}
	}
	return kinds, byKind
}

// TestObjects checks the objects of a run with ConfigMaps, whose names are operator-sdk's.
func TestObjects(t *testing.T) {
	t.Parallel()
	kinds, objects := objectsOf(t, mailOptions())
	if want := []string{"ConfigMap", "Deployment", "Service", "CatalogSource", "OperatorGroup", "Subscription"}; !slices.Equal(kinds, want) {
		t.Errorf("got %q, want %q", kinds, want)
	}
	for kind, want := range map[string]string{"CatalogSource": "mail-operator-catalog", "OperatorGroup": "operator-sdk-og", "Subscription": "mail-operator-v1-0-0-sub"} {
		if got := objects[kind].GetName(); got != want {
			t.Errorf("%s %s, want %s", kind, got, want)
		}
	}
	if got := kube.StringAt(objects["ConfigMap"].Object, "data", "catalog.yaml"); got != "schema: olm.package\n" {
		t.Errorf("the catalog is %q", got)
	}
	if got, want := kube.StringAt(objects["CatalogSource"].Object, "spec", "address"), objects["Service"].GetName()+".mem.svc:50051"; got != want {
		t.Errorf("the address is %s, want %s", got, want)
	}
	if got := objects["CatalogSource"].GetAnnotations()["operators.operatorframework.io/injected-bundles"]; got != `[{"imageTag":"example.com/bundle:v1","mode":"replaces"}]` {
		t.Errorf("operator-sdk reads %s", got)
	}
	subscription := objects["Subscription"].Object["spec"].(map[string]any)
	if subscription["name"] != "mail.operator" || subscription["startingCSV"] != "mail.operator.v1.0.0" || subscription["source"] != "mail-operator-catalog" || subscription["config"] != nil {
		t.Errorf("the subscription is %v", subscription)
	}
	if targets := kube.ValueAt(objects["OperatorGroup"].Object, "spec", "targetNamespaces"); targets != nil {
		t.Errorf("targets %v, want all", targets)
	}
	other := mailOptions()
	other.Bundle.Catalog = []byte("schema: olm.channel\n")
	if _, objects2 := objectsOf(t, other); objects2["Deployment"].GetName() == objects["Deployment"].GetName() {
		t.Error("another catalog is served at the same address, which OLM caches")
	}
}

// TestServing checks that settings reach the pods they are for.
func TestServing(t *testing.T) {
	t.Parallel()
	o := mailOptions()
	o.Mode = InstallMode{Type: multiNamespace, Namespaces: []string{"a", "b"}}
	o.Serving.PullSecret, o.Serving.ServiceAccount = "pull", "runner"
	o.Serving.NodeSelector, o.Serving.Env = map[string]string{"disk": "ssd"}, []EnvVar{{Name: "HTTP_PROXY", Value: "p"}}
	_, objects := objectsOf(t, o)
	pod := kube.ValueAt(objects["Deployment"].Object, "spec", "template", "spec").(map[string]any)
	container := pod["containers"].([]any)[0].(map[string]any)
	if pod["serviceAccountName"] != "runner" || pod["securityContext"] == nil || container["securityContext"] == nil || container["image"] != "example.com/opm:v1" || container["imagePullPolicy"] != "Always" {
		t.Errorf("the registry's pod is %v", pod)
	}
	for where, got := range map[string]any{
		"pull": kube.ValueAt(kube.ListAt(pod, "imagePullSecrets")[0], "name"), "ssd": kube.ValueAt(pod, "nodeSelector", "disk"), "p": kube.ValueAt(kube.ListAt(container, "env")[0], "value"),
	} {
		if got != where {
			t.Errorf("the registry's pod has %v, want %s", got, where)
		}
	}
	if got := kube.ListAt(objects["CatalogSource"].Object, "spec", "secrets"); !slices.Equal(got, []any{"pull"}) {
		t.Errorf("the catalog's secrets are %v", got)
	}
	if kube.ValueAt(objects["CatalogSource"].Object, "spec", "grpcPodConfig", "nodeSelector", "disk") != "ssd" || kube.ValueAt(objects["Subscription"].Object, "spec", "config", "nodeSelector", "disk") != "ssd" {
		t.Error("the node selector is missing")
	}
	if env := kube.ListAt(objects["Subscription"].Object, "spec", "config", "env"); len(env) != 1 || kube.ValueAt(env[0], "name") != "HTTP_PROXY" {
		t.Errorf("the operator's variables are %v", env)
	}
	if got := kube.ListAt(objects["OperatorGroup"].Object, "spec", "targetNamespaces"); !slices.Equal(got, []any{"a", "b"}) {
		t.Errorf("targets %v", got)
	}

	o.Serving.Legacy = true
	_, objects = objectsOf(t, o)
	pod = kube.ValueAt(objects["Deployment"].Object, "spec", "template", "spec").(map[string]any)
	if pod["securityContext"] != nil || pod["containers"].([]any)[0].(map[string]any)["securityContext"] != nil {
		t.Errorf("a legacy pod is %v", pod)
	}

	r := &run{RunOptions: mailOptions(), anyUser: true}
	set, err := r.objects(nil)
	if err != nil || kube.ValueAt(set.deployment.Object, "spec", "template", "spec", "securityContext", "runAsUser") != nil {
		t.Errorf("a namespace that assigns users: %v, %v", set, err)
	}

	o.Serving.CatalogImage = "example.com/catalog:v1"
	kinds, objects := objectsOf(t, o)
	if want := []string{"CatalogSource", "OperatorGroup", "Subscription"}; !slices.Equal(kinds, want) || kube.StringAt(objects["CatalogSource"].Object, "spec", "image") != "example.com/catalog:v1" || kube.ValueAt(objects["CatalogSource"].Object, "spec", "address") != nil {
		t.Errorf("with an image of the catalog: %q, %v", kinds, objects["CatalogSource"])
	}
}

// TestLargeCatalog checks that a catalog that fits into no ConfigMap is split, and that the parts make it again.
func TestLargeCatalog(t *testing.T) {
	t.Parallel()
	o := mailOptions()
	o.Serving.DecompressionImage = "example.com/busybox:v1"
	noise := make([]byte, 2<<20)
	rand.New(rand.NewSource(1)).Read(noise) //nolint:gosec // bytes that cannot be compressed
	o.Bundle.Catalog = noise
	objects, err := Objects(o)
	if err != nil {
		t.Fatal(err)
	}
	var packed []byte
	parts := 0
	for _, object := range objects {
		for key, text := range kube.ValueAt(object.Object, "binaryData").(map[string]any) {
			part, err := base64.StdEncoding.DecodeString(text.(string))
			if err != nil || len(part) > maxMapSize || !strings.HasSuffix(key, "000"+string(rune('0'+parts))) {
				t.Errorf("part %s of %d bytes: %v", key, len(part), err)
			}
			packed, parts = append(packed, part...), parts+1
		}
		if parts == 3 {
			break
		}
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(reader); err != nil || !bytes.Equal(text, noise) {
		t.Errorf("the parts make %d bytes, %v", len(text), err)
	}
	pod := kube.ValueAt(objects[parts].Object, "spec", "template", "spec").(map[string]any)
	if init := kube.ListAt(pod, "initContainers"); len(init) != 1 || kube.ValueAt(init[0], "image") != "example.com/busybox:v1" {
		t.Errorf("init containers: %v", init)
	}
	if sources := kube.ListAt(kube.ListAt(pod, "volumes")[len(kube.ListAt(pod, "volumes"))-2], "projected", "sources"); len(sources) != parts {
		t.Errorf("mounted: %v", sources)
	}
}

// TestNames checks that names of long packages are valid, and differ.
func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long-name-", 9)
	for _, name := range []string{"a", "A.b", long, long + "x"} {
		for _, got := range []string{subscriptionName(name), catalogName(name), catalogName(name) + "-registry-12345678", catalogName(name) + "-cleanup"} {
			if problems := validation.IsDNS1123Label(got); len(problems) > 0 {
				t.Errorf("%s: %v", got, problems)
			}
		}
		if problems := validation.IsValidLabelValue(labelValue(name)); len(problems) > 0 {
			t.Errorf("%s: %v", labelValue(name), problems)
		}
	}
	if catalogName(long) == catalogName(long+"x") || labelValue(long) == labelValue(long+"x") {
		t.Error("the names of two long packages are equal")
	}
	c := cleanup{CleanupOptions: CleanupOptions{Namespace: "ns", Package: strings.Repeat("p", 60)}}
	if got, want := c.componentLabel(), olm.Group+"/"+strings.Repeat("p", 60)+".ns"; got != want {
		t.Errorf("the label is %s, want %s", got, want)
	}
	c.Package = strings.Repeat("p", 62)
	if got, want := c.componentLabel(), olm.Group+"/"+strings.Repeat("p", 62); got != want {
		t.Errorf("a cut label is %s, want %s", got, want)
	}
}

// TestCompress checks that the result depends only on the text.
func TestCompress(t *testing.T) {
	t.Parallel()
	a, err := compress([]byte("text"))
	b, again := compress([]byte("text"))
	if err != nil || again != nil || !bytes.Equal(a, b) {
		t.Errorf("%x, %x, %v, %v", a, b, err, again)
	}
}
