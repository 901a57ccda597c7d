package operatorchart

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

var update = flag.Bool("update", false, "rewrite testdata")

// goldens returns the names of the projects whose charts are tested.
func goldens() []string { return []string{"memcached", "minimal", "multigroup", "shop", "site", "ssa"} }

// build returns the objects of config/default in a project, with files replaced.
func build(t *testing.T, dir string, files map[string][]byte) []manifest.Object {
	t.Helper()
	root, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := manifest.RefuseRemote.Build(t.Context(), root, "config/default", files)
	if err != nil {
		t.Fatal(err)
	}
	objects, problems := manifest.Decode("config/default", text)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return objects
}

// golden returns the options for the chart of a golden project.
func golden(t *testing.T, name string) Options {
	dir := filepath.Join("..", "..", "testdata", name+"-operator")
	o := Options{Name: name + "-operator", Objects: build(t, dir, nil)}
	kustomization, err := os.ReadFile(filepath.Join(dir, "config", "default", "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{"config/default/kustomization.yaml": WithOffered(kustomization, func(file string) bool {
		_, err := os.Stat(filepath.Join(dir, "config", "default", file))
		return err == nil
	})}
	o.Offered = Added(o.Objects, build(t, dir, all))
	return o
}

// render renders a chart with values.
func render(files Files, values map[string]any, release, namespace string) (map[string]manifest.Object, error) {
	var buffers []*archive.BufferedFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		buffers = append(buffers, &archive.BufferedFile{Name: name, Data: files[name]})
	}
	loaded, err := loader.LoadFiles(buffers)
	if err != nil {
		return nil, err
	}
	return renderChart(loaded, values, release, namespace)
}

func renderChart(loaded *chartv2.Chart, values map[string]any, release, namespace string) (map[string]manifest.Object, error) {
	options := common.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValuesWithSchemaValidation(loaded, values, options, nil, false)
	if err != nil {
		return nil, err
	}
	texts, err := engine.Engine{}.RenderWithContext(context.Background(), loaded, all)
	if err != nil {
		return nil, err
	}
	objects := map[string]manifest.Object{}
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		if strings.HasSuffix(file, ".txt") {
			continue
		}
		decoded, problems := manifest.Decode(file, []byte(texts[file]))
		if err := problems.Err(); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, texts[file])
		}
		for _, o := range decoded {
			if _, ok := objects[o.String()]; ok {
				return nil, fmt.Errorf("%s is rendered twice", o)
			}
			objects[o.String()] = o
		}
	}
	return objects, nil
}

// TestEqual checks that a chart with its default values renders what the kustomization builds, apart from what the package comment names, and
// so do a chart without CRDs and the chart of the CRDs together.
func TestEqual(t *testing.T) {
	for _, name := range goldens() {
		t.Run(name, func(t *testing.T) {
			o := golden(t, name)
			chart, err := Make(o)
			if err != nil {
				t.Fatal(err)
			}
			rendered, err := render(chart.Files, nil, o.Name, o.Name+"-system")
			if err != nil {
				t.Fatal(err)
			}
			checkEqual(t, o.Objects, rendered)
		})
		t.Run(name+" with separate CRDs", func(t *testing.T) {
			o := golden(t, name)
			operator, crds, err := MakeSeparate(o)
			if err != nil {
				t.Fatal(err)
			}
			rendered, err := render(operator.Files, nil, o.Name, o.Name+"-system")
			if err != nil {
				t.Fatal(err)
			}
			definitions, err := render(crds.Files, nil, o.Name+"-crds", o.Name+"-system")
			if err != nil {
				t.Fatal(err)
			}
			for key, o := range definitions {
				if o.Kind() != "CustomResourceDefinition" || rendered[key].Fields != nil {
					t.Errorf("the chart of the CRDs has %s", o)
				}
				rendered[key] = o
			}
			checkEqual(t, o.Objects, rendered)
		})
	}
}

// checkEqual checks that charts render the objects of the kustomization. It changes both sides.
func checkEqual(t *testing.T, objects []manifest.Object, rendered map[string]manifest.Object) {
	t.Helper()
	for _, want := range objects {
		if want.Kind() == "Namespace" {
			continue
		}
		got, ok := rendered[want.String()]
		if !ok {
			t.Errorf("%s is missing", want)
			continue
		}
		delete(rendered, want.String())
		equalize(got)
		equalize(want)
		if !reflect.DeepEqual(got.Fields, want.Fields) {
			t.Errorf("%s differs:\n%s", want, difference(t, want, got))
		}
	}
	for extra := range rendered {
		t.Errorf("%s is not in the kustomization", extra)
	}
}

// equalize removes what the package comment names as differences.
func equalize(o manifest.Object) {
	delete(labels(o), "helm.sh/chart")
	if labels(o)[managedBy] != nil {
		labels(o)[managedBy] = "Helm"
	}
	annotations := manifest.MapAt(o.Fields, "metadata", "annotations")
	if o.Kind() == "CustomResourceDefinition" {
		delete(annotations, keepPolicy)
	}
	if annotations != nil && len(annotations) == 0 {
		delete(manifest.MapAt(o.Fields, "metadata"), "annotations")
	}
}

func difference(t *testing.T, want, got manifest.Object) string {
	t.Helper()
	var texts [2]string
	for i, o := range []manifest.Object{want, got} {
		text, err := yaml.Marshal(o.Fields)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return lineDiff(texts[0], texts[1])
}

// lineDiff returns the lines that differ.
func lineDiff(a, b string) string {
	old, next := strings.Split(a, "\n"), strings.Split(b, "\n")
	var text strings.Builder
	j := 0
	for i, pair := range textdiff.MatchLines(old, next) {
		if pair < 0 {
			fmt.Fprintf(&text, "- %s\n", old[i])
			continue
		}
		for ; j < pair; j++ {
			fmt.Fprintf(&text, "+ %s\n", next[j])
		}
		j = pair + 1
	}
	for ; j < len(next); j++ {
		fmt.Fprintf(&text, "+ %s\n", next[j])
	}
	return text.String()
}

// TestDeterministic checks that a chart is the same each time.
func TestDeterministic(t *testing.T) {
	o := golden(t, "multigroup")
	first, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := Make(o)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.EqualFunc(first.Files, again.Files, bytes.Equal) {
			t.Fatal("the chart differs from one made of the same objects")
		}
	}
}

// writeFiles writes a chart into a directory.
func writeFiles(t *testing.T, dir string, files Files) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBundle compares the Deployment of charts with the one in the bundle of the same project. testdata/bundle.txt has the differences: OLM
// mounts the certificates of webhooks itself, and the ClusterServiceVersion has a form that Go types give it.
func TestBundle(t *testing.T) {
	var text strings.Builder
	for _, name := range goldens() {
		file := filepath.Join("..", "..", "testdata", name+"-operator", "bundle", "manifests", name+"-operator.clusterserviceversion.yaml")
		data, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		csv, problems := manifest.Decode(file, data)
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		chart, err := Make(golden(t, name))
		if err != nil {
			t.Fatal(err)
		}
		rendered, err := render(chart.Files, nil, name+"-operator", name+"-operator-system")
		if err != nil {
			t.Fatal(err)
		}
		manager, _ := findManager(slices.Collect(maps.Values(rendered)))
		deployment := listAt(csv[0].Fields, "spec", "install", "spec", "deployments")[0]
		spec := func(fields any) manifest.Object {
			return manifest.Object{Fields: map[string]any{"spec": valueAt(fields, "spec")}}
		}
		fmt.Fprintf(&text, "=== %s: chart and bundle\n%s", name, difference(t, spec(manager.Fields), spec(deployment)))
	}
	compare(t, "testdata/bundle.txt", text.String())
}

// compare compares a text with a file, which -update rewrites.
func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(string(data), "\r\n", "\n"); got != want {
		t.Errorf("%s differs; -update rewrites it:\n%s", file, lineDiff(want, got))
	}
}
