package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// clusterMarker matches the marker of cluster-scoped types in the sources of k8s.io/api, with the name of the type.
var clusterMarker = regexp.MustCompile(`(?m)^// \+genclient:nonNamespaced\n(?:.*\n)*?type (\w+) struct`)

// The scope of Kubernetes' kinds against the markers in their sources.
func TestCoreScope(t *testing.T) {
	t.Parallel()
	dirs := map[string]string{}
	for _, module := range []string{"k8s.io/api", "k8s.io/apiextensions-apiserver"} {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		check(t, err)
		dirs[module] = strings.TrimSpace(string(out))
	}
	for _, v := range coreVersions {
		file := ""
		for module, dir := range dirs {
			if rest, ok := strings.CutPrefix(v.path(), module+"/"); ok {
				file = filepath.Join(dir, filepath.FromSlash(rest), "types.go")
			}
		}
		source, err := os.ReadFile(file)
		check(t, err)
		cluster := map[string]bool{}
		for _, match := range clusterMarker.FindAllSubmatch(source, -1) {
			cluster[string(match[1])] = true
		}
		for kind := range strings.FieldsSeq(v.kinds) {
			if r, ok := FindCoreResource(v.apiGroup(), kind); !ok || r.Namespaced == cluster[kind] {
				t.Errorf("%s/%s %s: namespaced %t (%t), in the source %t", v.apiGroup(), v.version, kind, r.Namespaced, ok, !cluster[kind])
			}
		}
	}
	if r, ok := FindCoreResource("networking.k8s.io", "Ingress"); !ok || r.Plural != "ingresses" {
		t.Errorf("got %+v, %t", r, ok)
	}
	if _, ok := FindCoreResource("apps", "Pod"); ok {
		t.Error("apps has a kind Pod")
	}
}

func TestFindCoreKind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ group, plural, kind, version string }{
		{"", "configmaps", "ConfigMap", "v1"},
		{"apps", "deployments", "Deployment", "v1"},
		{"autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "v2"},
		{"networking.k8s.io", "ingresses", "Ingress", "v1"},
		{"networking.k8s.io", "deployments", "", ""},
		{"example.com", "configmaps", "", ""},
	} {
		kind, version, ok := FindCoreKind(test.group, test.plural)
		if kind != test.kind || version != test.version || ok != (test.kind != "") {
			t.Errorf("%s.%s: got %s %s %t", test.plural, test.group, kind, version, ok)
		}
	}
}
