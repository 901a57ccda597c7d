package action

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
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

func bundleOptions() GenerateBundleOptions {
	source := SourceOptions{Stdin: Stdin{Reader: strings.NewReader(deployment), Pipe: true}}
	return GenerateBundleOptions{SourceOptions: source, Version: "1.0.0", Channels: "alpha"}
}

// TestGenerateBundle generates a bundle from stdin, and the same bundle again.
func TestGenerateBundle(t *testing.T) {
	t.Parallel()
	config, _ := newProject(t)
	config.Dir = root
	p := openProject(t, config)
	text, err := p.RenderBundle(t.Context(), bundleOptions())
	if err != nil || !strings.Contains(string(text), "name: memcached-operator.v1.0.0\n") {
		t.Fatalf("RenderBundle = %s, %v, want a CSV", text, err)
	}
	for i, want := range [][]string{
		{"bundle.Dockerfile", "bundle/manifests/memcached-operator.clusterserviceversion.yaml", "bundle/metadata/annotations.yaml"},
		nil,
	} {
		result, err := p.GenerateBundle(t.Context(), bundleOptions())
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(slices.Values(changedFiles(result))); !slices.Equal(got, want) {
			t.Errorf("run %d: changed files = %v, want %v", i+1, got, want)
		}
	}
}

// TestGenerateBundleFindings checks that problems of options and of the input are returned together.
func TestGenerateBundleFindings(t *testing.T) {
	t.Parallel()
	config, _ := newProject(t)
	config.Dir = root
	p := openProject(t, config)
	o := bundleOptions()
	o.Version, o.Channels, o.Findings = "v1", "a b", diag.Findings{{Field: "--timeout", Problem: "must not be negative"}}
	o.Stdin.Reader = strings.NewReader("kind: [\n")
	_, err := p.GenerateBundle(t.Context(), o)
	for _, want := range []string{"--version", "--channels", "--timeout", "stdin:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("GenerateBundle = %v, want a finding about %s", err, want)
		}
	}
	o = bundleOptions()
	o.Version = ""
	if _, err = p.GenerateBundle(t.Context(), o); !errors.Is(err, bundle.ErrVersionRequired) || !diag.IsUsage(err) {
		t.Errorf("GenerateBundle without a version = %v, want ErrVersionRequired as an error of the user", err)
	}
}
