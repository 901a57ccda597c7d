package bundles

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/gokinds"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: memcached-operator
spec:
  selector:
    matchLabels: {app: memcached}
  template:
    metadata:
      labels: {app: memcached}
    spec:
      containers:
      - name: manager
        image: registry.example.com/memcached-operator:v1.0.0
`

func bundleOptions() GenerateOptions {
	source := SourceOptions{Stdin: Stdin{Reader: strings.NewReader(deployment), Pipe: true}}
	return GenerateOptions{SourceOptions: source, Version: "1.0.0", Channels: "alpha"}
}

// openProject opens a project in memory without kinds until the end of the test.
func openProject(t *testing.T) *action.Project {
	t.Helper()
	config := action.Config{FS: afero.NewMemMapFs(), Dir: "/work/memcached-operator", Program: "operon", Layouts: []action.Layout{{Facts: layout.Go(), Kinds: gokinds.Kinds{}}}}
	text := "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: memcached-operator\nrepo: example.com/memcached-operator\nversion: \"3\"\n"
	if err := afero.WriteFile(config.FS, "/work/memcached-operator/PROJECT", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := action.Open(t.Context(), config, config.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestGenerate generates a bundle from stdin, and the same bundle again.
func TestGenerate(t *testing.T) {
	t.Parallel()
	p := openProject(t)
	text, err := Render(t.Context(), p, bundleOptions())
	if err != nil || !strings.Contains(string(text), "name: memcached-operator.v1.0.0\n") {
		t.Fatalf("Render = %s, %v, want a CSV", text, err)
	}
	for i, want := range [][]string{
		{"bundle.Dockerfile", "bundle/manifests/memcached-operator.clusterserviceversion.yaml", "bundle/metadata/annotations.yaml"},
		nil,
	} {
		result, err := Generate(t.Context(), p, bundleOptions())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range result.Changes {
			got = append(got, c.Path)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("run %d: changed files = %v, want %v", i+1, got, want)
		}
	}
}

// TestGenerateFindings checks that problems of options and of the input are returned together.
func TestGenerateFindings(t *testing.T) {
	t.Parallel()
	p := openProject(t)
	o := bundleOptions()
	o.Version, o.Channels, o.Findings = "v1", "a b", diag.Findings{{Field: "--timeout", Problem: "must not be negative"}}
	o.Stdin.Reader = strings.NewReader("kind: [\n")
	_, err := Generate(t.Context(), p, o)
	for _, want := range []string{"--version", "--channels", "--timeout", "stdin:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Generate = %v, want a finding about %s", err, want)
		}
	}
	o = bundleOptions()
	o.Version = ""
	if _, err = Generate(t.Context(), p, o); !errors.Is(err, bundle.ErrVersionRequired) || !diag.IsUsage(err) {
		t.Errorf("Generate without a version = %v, want ErrVersionRequired as an error of the user", err)
	}
}
