package source

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// TestImages finds the images of charts in the forms that charts use, and images that no value selects.
func TestImages(t *testing.T) {
	t.Parallel()
	charts := map[string]helmchart.Files{"forms": chartOf(imageForms)}
	for _, name := range []string{"shop", "ledger", "node-agent"} {
		answer, err := Fetch(t.Context(), helmchart.FetchRequest{Protocol: helmchart.Protocol, Chart: "../../../testdata/charts/" + name})
		if err != nil {
			t.Fatal(err)
		}
		charts[name] = answer.Files
	}
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		rendered, err := helmchart.Explore(t.Context(), charts[name], Render)
		if err != nil {
			t.Fatal(err)
		}
		images, left, err := helmchart.Images(t.Context(), charts[name], rendered, Render)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s\n", name)
		for _, image := range images {
			fmt.Fprintf(&got, "  %s %s %s\n", image.Path, image.Default, image.Variable)
			for _, path := range slices.Sorted(maps.Keys(image.Overrides)) {
				fmt.Fprintf(&got, "    %s: %s\n", path, image.Overrides[path])
			}
		}
		for _, ref := range left {
			fmt.Fprintf(&got, "  left: %s\n", ref)
		}
	}
	const golden = "testdata/images.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("differs from %s:\n%s", golden, got.String())
	}
}

// imageForms is a chart with an image in each form. The tag of labeled is a label, where a digest is too long; the tag of broken is
// required to begin with a v.
const imageForms = `
-- Chart.yaml --
apiVersion: v2
name: forms
version: 1.0.0
appVersion: "3.1"
-- values.yaml --
full:
  image: registry.example.com/a/full:1.0
parts:
  image: {registry: docker.io, repository: team/parts, tag: "1.1", digest: ""}
global: {imageRegistry: ""}
plain:
  image: {repository: quay.io/team/plain, tag: ""}
prefixed:
  image: {registry: "", repository: ghcr.io/team/prefixed, tag: "1.3"}
argument:
  image: {repository: registry.example.com/argument, tag: "1.4"}
labeled:
  image: {repository: registry.example.com/labeled, tag: "1.5"}
broken:
  image: {repository: registry.example.com/broken, tag: v1}
untagged:
  image: registry.example.com/untagged
optional:
  enabled: false
  image: registry.example.com/optional:1.6
my.key:
  initImage: registry.example.com/init:1.7
unused:
  image: registry.example.com/unused:1.8
-- templates/pod.yaml --
{{- $parts := .Values.parts.image }}
{{- if not (hasPrefix "v" .Values.broken.image.tag) }}{{ fail "tags of broken begin with v" }}{{ end }}
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}
  labels:
    version: {{ .Values.labeled.image.tag | quote }}
spec:
  initContainers:
  - {name: init, image: {{ index .Values "my.key" "initImage" }}}
  containers:
  - {name: full, image: {{ .Values.full.image }}}
  - {name: parts, image: "{{ $parts.registry }}/{{ $parts.repository }}{{ if $parts.digest }}@{{ $parts.digest }}{{ else }}:{{ $parts.tag }}{{ end }}"}
  - {name: plain, image: "{{ .Values.plain.image.repository }}:{{ .Values.plain.image.tag | default .Chart.AppVersion }}"}
  - {name: prefixed, image: "{{ with .Values.prefixed.image.registry }}{{ . }}/{{ end }}{{ .Values.prefixed.image.repository }}:{{ .Values.prefixed.image.tag }}"}
  - {name: argument, image: fixed.example.com/runner:1, args: ["--image={{ .Values.argument.image.repository }}:{{ .Values.argument.image.tag }}"]}
  - {name: labeled, image: "{{ .Values.labeled.image.repository }}:{{ .Values.labeled.image.tag }}"}
  - {name: broken, image: "{{ .Values.broken.image.repository }}:{{ .Values.broken.image.tag }}"}
  - {name: untagged, image: {{ .Values.untagged.image }}}
{{- if .Values.optional.enabled }}
  - {name: optional, image: {{ .Values.optional.image }}}
{{- end }}
`
