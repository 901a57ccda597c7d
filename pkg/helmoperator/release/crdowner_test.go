package release

import (
	"encoding/base64"
	"strings"
	"testing"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
)

// TestForeignCRDs leaves CRDs of others as they are, and says so, but installs the release.
func TestForeignCRDs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		metadata, want string
	}{
		"helm":  {"labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: other, meta.helm.sh/release-namespace: prod}", "belongs to the Helm release prod/other"},
		"olm":   {"labels: {olm.managed: \"true\"}", "belongs to an operator that OLM installed"},
		"olm2":  {"labels: {operators.coreos.com/x.y: \"\"}", "belongs to an operator that OLM installed"},
		"argo":  {"annotations: {argocd.argoproj.io/tracking-id: x}", "belongs to Argo CD"},
		"newer": {"annotations: {" + CRDOwnerAnnotation + ": Widget.example.com, " + CRDVersionAnnotation + ": 1.10.0, " + CRDDigestAnnotation + ": x}", "comes from the newer version 1.10.0 of the chart"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newCRDEnv(t)
			own := e.definition("v1", "a")
			e.apply(strings.Replace(e.definition("v1", "theirs"), `annotations: {chart: "yes"}`, test.metadata, 1))
			release := e.with(CRDsCreateReplace, e.version("1.9.0", own))
			e.install(release)
			wantReport(t, release, "CRD gadgets."+e.group+" ")
			wantReport(t, release, test.want)
			e.wantFields("theirs")
			again := e.with(CRDsCreateReplace, release.options.Chart)
			e.settled(again)
			wantReport(t, again, test.want)
		})
	}
}

// TestSharedCRD has two kinds whose charts contain different versions of one CRD: the first one keeps it.
func TestSharedCRD(t *testing.T) {
	t.Parallel()
	e := newCRDEnv(t)
	first, second := e.version("1.0.0", e.definition("v1", "a")), e.version("9.0.0", e.definition("v1", "a", "b"))
	e.install(e.with(CRDsCreateReplace, first))
	other := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Gizmo"}}
	other.SetName("other")
	other.SetNamespace(e.namespace)
	other.SetUID("00000000-0000-0000-0000-000000000001")
	gizmo := func() *Release {
		return e.release(second, nil, func(o *Options) { o.CRDs, o.Owner = CRDsCreateReplace, other })
	}
	before := e.must(e.crd).GetResourceVersion()
	if err := gizmo().installCRDs(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := gizmo()
		if _, err := r.repairCRDs(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantReport(t, r, "comes from the chart of Widget.example.com; use the same CRD in both charts")
		own := e.with(CRDsCreateReplace, first)
		e.settled(own)
		wantReport(t, own, "")
	}
	if after := e.must(e.crd).GetResourceVersion(); after != before {
		t.Error("the CRD was changed")
	}
}

// TestTemplatedCRD has a CRD in crds/ that is a template of the chart, too. The release manages it.
func TestTemplatedCRD(t *testing.T) {
	t.Parallel()
	e := newCRDEnv(t)
	e.apply(strings.Replace(e.definition("v1", "theirs"), `annotations: {chart: "yes"}`,
		"labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: "+e.namespace+"}", 1))
	release := e.with(CRDsCreateReplace, e.version("1.0.0", e.definition("v1", "a")))
	e.install(release)
	wantReport(t, release, "")
	e.wantFields("theirs")
}

// TestTwoOperators has two processes with different CRDs of one version of a chart. They do not overwrite each other's forever.
func TestTwoOperators(t *testing.T) {
	t.Parallel()
	e := newCRDEnv(t)
	one, two := e.factory, *e.env
	two.connect()
	charts := []*chartv2.Chart{e.version("1.0.0", e.definition("v1", "a")), e.version("1.0.0", e.definition("v1", "a", "b"))}
	var last string
	for round := range 4 {
		for i, factory := range []*Factory{one, two.factory} {
			factory.crds.verified = nil // as after a minute
			r, err := factory.Release(Options{Owner: e.owner, Chart: charts[i], CRDs: CRDsCreateReplace})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.repairCRDs(t.Context()); err != nil {
				t.Fatal(err)
			}
			if version := e.must(e.crd).GetResourceVersion(); round > 1 && version != last {
				t.Errorf("round %d: operator %d has changed the CRD", round, i)
			} else {
				last = version
			}
			if i == 0 && round > 0 {
				wantReport(t, r, "was replaced by another operator of Widget.example.com")
			}
		}
	}
}

// TestInjectedBundle keeps the CA bundle of the conversion webhook that others inject into a CRD, whose chart has none or a placeholder.
func TestInjectedBundle(t *testing.T) {
	t.Parallel()
	for name, bundle := range map[string]string{"none": "", "placeholder": ", caBundle: Cg=="} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newCRDEnv(t)
			pem, _, err := cert.GenerateSelfSignedCertKey("webhook", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			injected := base64.StdEncoding.EncodeToString(pem)
			webhook := func(service, bundle string) string {
				return "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: " + service + ", namespace: default}" + bundle + "}}}\n"
			}
			e.apply(e.definition("v1", "a") + webhook("one", ", caBundle: "+injected))
			chart := e.version("1.0.0", e.definition("v1", "a")+webhook("one", bundle))
			e.install(e.with(CRDsCreateReplace, chart))
			before := e.must(e.crd).GetGeneration()
			e.factory.crds.verified = nil
			e.settled(e.with(CRDsCreateReplace, chart))
			if after := e.must(e.crd).GetGeneration(); after != before || before != 1 {
				t.Errorf("generation %d, was %d", after, before)
			}
			e.upgrade(e.with(CRDsCreateReplace, e.version("1.1.0", e.definition("v1", "a", "b")+webhook("two", bundle))))
			e.wantFields("a b")
			config, _, _ := unstructured.NestedMap(e.must(e.crd).Object, "spec", "conversion", "webhook", "clientConfig")
			if service, _, _ := unstructured.NestedString(config, "service", "name"); config["caBundle"] != injected || service != "two" {
				t.Errorf("client configuration %v", config)
			}
		})
	}
}
