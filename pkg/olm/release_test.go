package olm

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"0.46.0": "v0.46.0", "v0.46.0": "v0.46.0", "latest": "latest", "v0.16.1": "0.16.1", "0.17.0": "v0.17.0", "1.2.3": "v1.2.3",
		"0.46": "", "master": "", "": "", "v0.46.0/../..": "",
	} {
		if got, err := Canonical(version); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", version, got, err)
		}
	}
	if !Older("0.16.1", "v0.17.0") || Older("v0.46.0", "0.9.0") {
		t.Error("versions are compared as text")
	}
}

func text(t *testing.T, objects []*kube.Object) string {
	t.Helper()
	data, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCustomize checks that settings change what they are for, and no more.
func TestCustomize(t *testing.T) {
	t.Parallel()
	release := func(s Settings) string {
		r, err := Embedded()
		if err != nil {
			t.Fatal(err)
		}
		if r.Customize(s); len(r.CRDs) != 8 {
			t.Fatalf("%d CRDs", len(r.CRDs))
		}
		return text(t, r.Objects)
	}
	plain := release(Settings{})
	if again := release(Settings{Namespace: DefaultNamespace}); again != plain {
		t.Error("settings that are the defaults change something")
	}
	mirrored := release(Settings{Registry: "mirror.example.com:5000/quay/"})
	if strings.Contains(mirrored, "quay.io") || strings.Count(mirrored, `mirror.example.com:5000/quay/operator-framework/olm:v0.46.0"`) != 4 ||
		!strings.Contains(mirrored, "--opmImage=mirror.example.com:5000/quay/operator-framework/opm:v1.73.0") ||
		!strings.Contains(mirrored, "--configmapServerImage=mirror.example.com:5000/quay/operator-framework/configmap-operator-registry:latest") ||
		!strings.Contains(mirrored, `"image":"mirror.example.com:5000/quay/operatorhubio/catalog:latest"`) {
		t.Errorf("images of another registry:\n%s", mirrored)
	}
	if strings.ReplaceAll(mirrored, "mirror.example.com:5000/quay/", "quay.io/") != plain {
		t.Error("another registry changes more than images")
	}
	own := release(Settings{Registry: "r.example.com", Image: "example.com/olm@sha256:1", Catalog: "example.com/catalog:2"})
	if strings.Count(own, `"example.com/olm@sha256:1"`) != 4 || strings.Contains(own, "framework/olm:") || !strings.Contains(own, `"image":"example.com/catalog:2"`) ||
		!strings.Contains(own, "--opmImage=r.example.com/operator-framework/opm") {
		t.Errorf("images of one's own:\n%s", own)
	}
	if bare := release(Settings{Catalog: NoCatalog}); strings.Contains(bare, "CatalogSource\"") {
		t.Error("the catalog is not left out")
	}
	moved := release(Settings{Namespace: "platform"})
	for _, part := range []string{
		`"kind":"Namespace","metadata":{"labels":{"pod-security.kubernetes.io/audit":"restricted","pod-security.kubernetes.io/audit-version":"latest","pod-security.kubernetes.io/enforce":"restricted","pod-security.kubernetes.io/enforce-version":"latest","pod-security.kubernetes.io/warn":"restricted","pod-security.kubernetes.io/warn-version":"latest"},"name":"platform"}`,
		`"name":"olm-operator-binding-platform"`, `"subjects":[{"kind":"ServiceAccount","name":"olm-operator-serviceaccount","namespace":"platform"}]`,
		`"--namespace","platform"`, `"--global-namespace","platform"`, `"targetNamespaces":["platform"]`, `"name":"packageserver","namespace":"platform"`,
	} {
		if !strings.Contains(moved, part) {
			t.Errorf("in another namespace, %s is missing", part)
		}
	}
	if strings.Contains(moved, `"olm"`) && strings.Count(moved, `"olm"`) != 1 { // a keyword of the packageserver
		t.Errorf("in another namespace, olm is left %d times", strings.Count(moved, `"olm"`))
	}
}

type site map[string]string

func (s site) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	body, ok := s[r.URL.String()]
	switch {
	case !ok:
		recorder.WriteHeader(http.StatusNotFound)
	case strings.HasPrefix(body, "http"):
		recorder.Header().Set("Location", body)
		recorder.WriteHeader(http.StatusFound)
	default:
		_, _ = io.WriteString(recorder, body)
	}
	response := recorder.Result()
	response.Request = r
	return response, nil
}

func TestFetch(t *testing.T) {
	t.Parallel()
	embedded, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	stream := func(objects []*kube.Object) string {
		var documents []string
		for _, o := range objects {
			documents = append(documents, text(t, []*kube.Object{o})[1:])
		}
		return strings.ReplaceAll(strings.Join(documents, "\n---\n"), "}]\n---", "}\n---")
	}
	crds, objects := strings.TrimSuffix(stream(embedded.CRDs), "]"), strings.TrimSuffix(stream(embedded.Objects), "]")
	const at = releases + "/download/v0.45.0/"
	good := site{at + "crds.yaml": crds, at + "olm.yaml": objects}
	r, err := Fetch(t.Context(), good, "v0.45.0", nil)
	if err != nil || text(t, r.CRDs) != text(t, embedded.CRDs) || text(t, r.Objects) != text(t, embedded.Objects) {
		t.Errorf("fetching: %v", err)
	}
	objectStore := "https://objects.example.com/"
	latest := site{releases + "/latest/download/crds.yaml": objectStore + "c", releases + "/latest/download/olm.yaml": objectStore + "o", objectStore + "c": crds, objectStore + "o": objects}
	if r, err := Fetch(t.Context(), latest, Latest, nil); err != nil || r.Version != "v0.46.0" {
		t.Errorf("the latest: %v", err)
	}
	if _, err := Fetch(t.Context(), nil, DefaultVersion, nil); err != nil {
		t.Errorf("the version in the program needs a network: %v", err)
	}
	for name, bad := range map[string]struct {
		site site
		want string
	}{
		"missing":         {site{}, at + "crds.yaml not found"},
		"half":            {site{at + "crds.yaml": crds}, at + "olm.yaml not found"},
		"no YAML":         {site{at + "crds.yaml": "<html>\n a: b", at + "olm.yaml": objects}, at + "crds.yaml: "},
		"other objects":   {site{at + "crds.yaml": "{apiVersion: v1, kind: Secret, metadata: {name: a}}", at + "olm.yaml": objects}, "crds.yaml contains the secret a, which is not part of OLM"},
		"not OLM":         {site{at + "crds.yaml": crds, at + "olm.yaml": "{apiVersion: v1, kind: Secret, metadata: {name: a}}"}, "not a release of OLM"},
		"not encrypted":   {site{at + "crds.yaml": "http://objects.example.com/c"}, "redirects to the non-HTTPS URL http://objects.example.com/c"},
		"running circles": {site{at + "crds.yaml": at + "crds.yaml"}, "too many redirects"},
		"too large":       {site{at + "crds.yaml": strings.Repeat("#", maxManifestSize+1)}, "is larger than 32 MB"},
	} {
		if _, err := Fetch(t.Context(), bad.site, "v0.45.0", nil); err == nil || !strings.Contains(err.Error(), bad.want) || !strings.Contains(err.Error(), "need no network") {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused := &url.Error{Err: fmt.Errorf("no route")}
	if _, err := Fetch(t.Context(), failing{refused}, "v0.45.0", nil); err == nil || !strings.Contains(err.Error(), "no route") {
		t.Errorf("without network: %v", err)
	}
}

// TestFetchVerified verifies that releases with known or given checksums are refused with any other bytes.
func TestFetchVerified(t *testing.T) {
	t.Parallel()
	embedded, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	stream := func(objects []*kube.Object) string {
		var documents []string
		for _, o := range objects {
			document := text(t, []*kube.Object{o})
			documents = append(documents, document[1:len(document)-1])
		}
		return strings.Join(documents, "\n---\n")
	}
	crds, objects := stream(embedded.CRDs[:1]), stream(embedded.Objects)
	sum := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	served := &Checksums{CRDs: sum(crds), OLM: sum(objects)}
	other := &Checksums{CRDs: served.CRDs, OLM: sum("")}
	known := publishedChecksums()["v0.28.0"]
	older := strings.ReplaceAll(objects, DefaultVersion[1:], "0.28.0")
	for name, test := range map[string]struct {
		version, crds, objects string
		pinned                 *Checksums
		want                   *checksumError
	}{
		"given":                  {"v0.45.0", crds, objects, served, nil},
		"other than given":       {"v0.45.0", crds, objects, other, &checksumError{"v0.45.0", olmFile, served.OLM, other.OLM}},
		"other than known":       {"v0.28.0", crds, objects, nil, &checksumError{"v0.28.0", crdsFile, served.CRDs, known.CRDs}},
		"no YAML":                {"v0.28.0", "<html>", objects, nil, &checksumError{"v0.28.0", crdsFile, sum("<html>"), known.CRDs}},
		"latest with given":      {Latest, crds, objects, other, &checksumError{Latest, olmFile, served.OLM, other.OLM}},
		"latest is a known one":  {Latest, crds, older, nil, &checksumError{"v0.28.0", crdsFile, served.CRDs, known.CRDs}},
		"given instead of known": {"v0.28.0", crds, objects, served, nil},
	} {
		base := releases + "/download/" + test.version + "/"
		if test.version == Latest {
			base = releases + "/latest/download/"
		}
		r, err := Fetch(t.Context(), site{base + crdsFile: test.crds, base + olmFile: test.objects}, test.version, test.pinned)
		got, _ := errors.AsType[*checksumError](err)
		switch {
		case test.want == nil && (err != nil || !r.Pinned):
			t.Errorf("%s: %v", name, err)
		case test.want != nil && (got == nil || *got != *test.want):
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
	if r, err := Fetch(t.Context(), site{releases + "/download/v0.45.0/crds.yaml": crds, releases + "/download/v0.45.0/olm.yaml": objects}, "v0.45.0", nil); err != nil || r.Pinned || *r.Checksums != *served {
		t.Errorf("a release without known checksums: %v", err)
	}
}

func TestChecksums(t *testing.T) {
	t.Parallel()
	for version, sums := range publishedChecksums() {
		canonical, err := Canonical(version)
		if err != nil || canonical != version {
			t.Errorf("%s is never asked for: %v", version, err)
		}
		if parsed, err := ParseChecksums(sums.String()); err != nil || *parsed != sums {
			t.Errorf("%s: %v", version, err)
		}
	}
	digest := strings.Repeat("0", 64)
	for _, text := range []string{"", digest, "crds.yaml=" + digest, "olm.yaml=" + digest, "crds.yaml=" + digest + ",olm.yaml=0", "crds.yaml=" + digest + ",olm.yaml=" + digest + ",x=" + digest} {
		if _, err := ParseChecksums(text); err == nil {
			t.Errorf("accepted %q", text)
		}
	}
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestDifferences(t *testing.T) {
	t.Parallel()
	decode := func(text string) map[string]any {
		objects, err := kube.Decode([]byte("{apiVersion: v1, kind: A, " + text + "}"))
		if err != nil {
			t.Fatal(err)
		}
		return objects[0].Object
	}
	for _, c := range []struct{ release, cluster, want string }{
		{"spec: {a: 1, l: [x]}", "spec: {a: 1, b: 2, l: [x]}, status: {c: 3}", ""},
		{"spec: {e: {}, l: [], s: '', f: {g: {}}}", "spec: {}", ""},
		{"spec: {cpu: 500m, memory: 1Gi}", "spec: {cpu: 0.5, memory: 1024Mi}", ""},
		{"spec: {a: 1}", "spec: {a: 2}", "spec.a 2 1"},
		{"spec: {a: x}", "spec: {}", `spec.a  "x"`},
		{"spec: {a: {b: x}}", "spec: {a: w}", `spec.a "w" {"b":"x"}`},
		{"spec: {c: [{name: a, image: x}, {name: b}]}", "spec: {c: [{name: b}, {name: a, image: w}, {name: new}]}", `spec.c[a].image "w" "x"`},
		{"spec: {c: [{name: a}]}", "spec: {c: [{name: b}]}", `spec.c[a]  {"name":"a"}`},
		{"spec: {l: [x, w]}", "spec: {l: [x, z]}", `spec.l[1] "z" "w"`},
		{"spec: {l: [x, w]}", "spec: {l: [x]}", `spec.l ["x"] ["x","w"]`},
		{"spec: {l: [x]}", "status: {}", `spec  {"l":["x"]}`},
		{"spec: {t: true}", "spec: {}", "spec.t  true"},
	} {
		var got []string
		for _, d := range Differences(decode(c.release), decode(c.cluster)) {
			got = append(got, d.Path+" "+d.Cluster+" "+d.Release)
		}
		if strings.Join(got, ";") != c.want {
			t.Errorf("%s, %s: %q, want %q", c.release, c.cluster, got, c.want)
		}
	}
}

func TestVersionOf(t *testing.T) {
	t.Parallel()
	csv := kube.Named(V1Alpha1, CSVKind, "olm", packageServer)
	csv.Object["spec"] = map[string]any{"version": "0.28.0"}
	if got := versionOf(csv); got != "v0.28.0" {
		t.Errorf("without a label: %q", got)
	}
	csv.SetLabels(map[string]string{versionLabel: "v0.46.0"})
	if got := versionOf(csv); got != "v0.46.0" {
		t.Errorf("with a label: %q", got)
	}
	csv.SetLabels(map[string]string{versionLabel: "snapshot"})
	if got := versionOf(csv); got != "" {
		t.Errorf("a snapshot: %q", got)
	}
	for image, want := range map[string]string{
		"quay.io/operator-framework/olm:v0.46.0": "v0.46.0", "r:5000/olm": "", "olm@sha256:1": "", "olm:latest": "", "olm:v1.2.3@sha256:1": "v1.2.3",
	} {
		d := kube.Named("apps/v1", "Deployment", "olm", olmOperator)
		d.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": image}}}}}
		if got := imageVersion(d); got != want {
			t.Errorf("%s: %q", image, got)
		}
	}
}
