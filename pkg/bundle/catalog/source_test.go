package catalog

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"
	"github.com/operator-framework/operator-registry/pkg/image"
	"github.com/operator-framework/operator-registry/pkg/registry"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/testdata/cases"
)

// bundleFS returns a small bundle with an owned CRD, a required CRD and a dependency.
func bundleFS(version, upgrades string, more ...string) fstest.MapFS {
	files := fstest.MapFS{}
	put := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644} }
	put("manifests/newt.clusterserviceversion.yaml", `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: newt.v`+version+`
  annotations:
    capabilities: Basic Install
`+upgradeAnnotation(upgrades)+`spec:
  displayName: Newt
  description: Keeps <newts> & ponds.
  version: `+version+`
`+upgrades+`
  icon:
  - base64data: PHN2Zy8+
    mediatype: image/svg+xml
  customresourcedefinitions:
    owned:
    - kind: Newt
      name: newts.pond.example
      version: v1
    required:
    - kind: Frog
      name: frogs.pond.example
      version: v1
  relatedImages:
  - name: sidecar
    image: quay.io/pond/sidecar:1
  install:
    strategy: deployment
    spec:
      deployments:
      - name: newt
        spec:
          template:
            spec:
              containers:
              - name: manager
                image: quay.io/pond/newt:`+version+"\n")
	put("manifests/pond.example_newts.yaml", `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: newts.pond.example
spec:
  group: pond.example
  names: {kind: Newt, plural: newts}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
`)
	put("metadata/annotations.yaml", `annotations:
  operators.operatorframework.io.bundle.package.v1: newt
  operators.operatorframework.io.bundle.channels.v1: alpha,beta
  operators.operatorframework.io.bundle.channel.default.v1: alpha
`)
	put("metadata/dependencies.yaml", `dependencies:
- type: olm.package
  value:
    packageName: pond
    version: ">=1.0.0"
- type: olm.gvk
  value:
    group: water.example
    kind: Lake
    version: v1
`)
	put("metadata/properties.yaml", "properties:\n- type: olm.maxOpenShiftVersion\n  value: \"4.20\"\n")
	for i := 0; i+1 < len(more); i += 2 {
		name, old, _ := strings.Cut(more[i], "|")
		put(name, strings.Replace(string(files[name].Data), old, more[i+1], 1))
	}
	return files
}

// upgradeAnnotation returns the annotation for a skipRange among the upgrades.
func upgradeAnnotation(upgrades string) string {
	if strings.Contains(upgrades, "#range") {
		return "    olm.skipRange: '>=0.1.0 <0.2.0'\n"
	}
	return ""
}

func source(t *testing.T, files fs.FS, name string) *Source {
	t.Helper()
	s, problems := ReadBundle(files, name)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if err := s.SetImage("quay.io/pond/newt-bundle:v"+s.Version.String(), false); err != nil {
		t.Fatal(err)
	}
	return s
}

func newt(t *testing.T, version, upgrades string) *Source {
	t.Helper()
	return source(t, bundleFS(version, upgrades), "bundle")
}

// TestRender checks that a bundle's blob equals the output of opm render.
func TestRender(t *testing.T) {
	t.Parallel()
	recorded, err := cases.All("bundle")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, c := range recorded {
		files := c.FS("expected/bundle")
		if len(files) == 0 {
			continue
		}
		dir := filepath.Join(t.TempDir(), c.Name)
		if err := os.CopyFS(dir, files); err != nil {
			t.Fatal(err)
		}
		input, err := registry.NewImageInput(image.SimpleReference("quay.io/x/y:1"), dir)
		s, problems := ReadBundle(os.DirFS(dir), "bundle")
		if err != nil {
			if len(problems) == 0 {
				t.Errorf("%s: opm error = %v", dir, err)
			}
			continue
		}
		if len(problems) > 0 {
			t.Logf("%s: rejected: %v", dir, problems)
			continue
		}
		_, want, err := registry.ObjectsAndPropertiesFromBundle(input.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SetImage("quay.io/x/y:1", true); err != nil {
			t.Fatal(err)
		}
		compared++
		if got := sorted(s.bundle.Properties); !slices.Equal(got, sorted(want)) {
			t.Errorf("%s: properties =\n%s\nwant opm's:\n%s", dir, got, sorted(want))
		}
		if err := s.SetImage("quay.io/x/y:1", false); err != nil {
			t.Fatal(err)
		}
		want = slices.DeleteFunc(want, func(p property.Property) bool { return p.Type == property.TypeBundleObject })
		want = append(want, property.MustBuildCSVMetadata(s.typed))
		if got := sorted(s.bundle.Properties); !slices.Equal(got, sorted(want)) {
			t.Errorf("%s: properties =\n%s\nwant opm's:\n%s", dir, got, sorted(want))
		}
	}
	if compared < 30 {
		t.Errorf("compared only %d bundles", compared)
	}
}

func sorted(props []property.Property) []string {
	var texts []string
	for _, p := range props {
		texts = append(texts, p.String())
	}
	slices.Sort(texts)
	return texts
}

// TestReadBundleProblems checks that all problems of bundles and upgrades are reported with positions.
func TestReadBundleProblems(t *testing.T) {
	t.Parallel()
	const csv, notes = "manifests/newt.clusterserviceversion.yaml", "metadata/annotations.yaml"
	without := func(name string) fstest.MapFS {
		files := bundleFS("0.1.0", "")
		delete(files, name)
		return files
	}
	for _, c := range []struct {
		name  string
		files fs.FS
		want  []string
	}{
		{"empty", fstest.MapFS{}, []string{"b/manifests: no such directory", "b/metadata: no such directory"}},
		{"no CSV", without(csv), []string{"b/manifests: has no ClusterServiceVersion"}},
		{"no annotations", without(notes), []string{"b/metadata: has no annotations"}},
		{"no CRD", without("manifests/pond.example_newts.yaml"), []string{"b/" + csv + ":", "pond.example/v1/Newt", "put the CRD's manifest"}},
		{"several", bundleFS("0.1", "  replaces: newt.v0.1\n  skips: [\"\"]", notes+"|package.v1: newt", "package.v1: \"\""), []string{notes + ":2:", "package.v1 is required"}},
		{"versions", bundleFS("0.1", "  replaces: newt.v0.1\n  skips: [\"\"]"), []string{
			csv + ":10:", `spec.version "0.1" must be`, csv + ":11:", "spec.replaces is the bundle itself", csv + ":12:", "spec.skips[0]",
		}},
		{"range", bundleFS("0.1.0", "", csv+"|capabilities: Basic Install", "olm.skipRange: 'a to b'"), []string{csv + ":6:", "olm.skipRange \"a to b\""}},
		{"YAML", bundleFS("0.1.0", "", csv+"|spec:", "spec: ]", notes+"|annotations:", "annotations: ["), []string{"b/" + csv + ":", "b/" + notes + ":"}},
		{"type", bundleFS("0.1.0", "", csv+"|displayName: Newt", "displayName: [1]"), []string{csv + ":", "spec.displayName must be a string"}},
		{"dependency", bundleFS("0.1.0", "", "metadata/dependencies.yaml|- type: olm.package\n  value:", "- kind: olm.package\n  value:"), []string{"metadata/dependencies.yaml:2:", "dependencies[0] needs a type"}},
		{"property", bundleFS("0.1.0", "", csv+"|capabilities: Basic Install", "olm.properties: '{'"), []string{csv + ":6:", "olm.properties must be a JSON list"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, problems := ReadBundle(c.files, "b")
			for _, text := range c.want {
				if !strings.Contains(problems.Error(), text) {
					t.Errorf("no problem contains %q:\n%v", text, problems)
				}
			}
			if len(problems) == 0 {
				t.Error("ReadBundle() reported no problem")
			}
		})
	}
}

// TestMetaIsJSON checks that the blob of an added bundle is the JSON that operator-registry reads.
func TestMetaIsJSON(t *testing.T) {
	t.Parallel()
	s := newt(t, "0.1.0", "")
	meta, err := metaOf(s.bundle)
	if err != nil {
		t.Fatal(err)
	}
	var bundle declcfg.Bundle
	if err := json.Unmarshal(meta.Blob, &bundle); err != nil || bundle.Name != "newt.v0.1.0" || meta.Package != "newt" {
		t.Errorf("%v %v", bundle, err)
	}
	if s.CSV() != (diag.Position{File: "bundle/manifests/newt.clusterserviceversion.yaml", Line: 1}) {
		t.Errorf("%v", s.CSV())
	}
}
