package operatorchart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/strvals"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// switches returns the settings whose effect is tested, in the form of --set.
func switches() []string {
	return []string{
		"nameOverride=other",
		"fullnameOverride=cache",
		"manager.enabled=false",
		"manager.replicas=3",
		"manager.replicas=null",
		"manager.image.repository=example.org/other,manager.image.tag=1.2,manager.image.pullPolicy=Always",
		"manager.image.tag=@sha256:0123",
		"manager.imagePullSecrets[0].name=registry",
		"manager.args={--leader-elect,--zap-log-level=debug}",
		"manager.args=null",
		"manager.env[0].name=LEVEL,manager.env[0].value=info",
		"manager.envOverrides.MEMCACHED_IMAGE=memcached:2,manager.envOverrides.DEBUG=true",
		"manager.healthProbe.port=9000",
		"manager.resources=null",
		"manager.podSecurityContext.fsGroup=1000",
		"manager.securityContext=null",
		"manager.nodeSelector.disk=ssd",
		"manager.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields={}",
		"manager.tolerations[0].operator=Exists",
		"manager.topologySpreadConstraints[0].maxSkew=1",
		"manager.priorityClassName=system-cluster-critical",
		"manager.terminationGracePeriodSeconds=0",
		"manager.strategy.type=Recreate",
		"manager.labels.team=cache,manager.annotations.note=x",
		"manager.pod.labels.team=cache,manager.pod.annotations.note=x",
		"manager.extraVolumes[0].name=tmp,manager.extraVolumeMounts[0].name=tmp,manager.extraVolumeMounts[0].mountPath=/tmp",
		"serviceAccount.enabled=false",
		"serviceAccount.enabled=false,serviceAccount.name=mine",
		"serviceAccount.name=mine,serviceAccount.labels.team=cache,serviceAccount.annotations.role=cloud",
		"rbac.namespaced=true",
		"rbac.helpers.enabled=false",
		"rbac.helpers.aggregate=true",
		"crd.enabled=false",
		"crd.keep=false",
		"metrics.enabled=false",
		"metrics.port=9443",
		"metrics.secure=false,prometheus.enabled=true",
		"webhook.enabled=false",
		"webhook.port=9444,networkPolicy.enabled=true",
		"webhook.secretName=mine",
		"certManager.enabled=false,webhook.caBundle=Q0E=",
		"certManager.enabled=false",
		"prometheus.enabled=true,prometheus.labels.release=prometheus",
		"networkPolicy.enabled=true,metrics.port=9443",
		"extraObjects[0].apiVersion=v1,extraObjects[0].kind=ConfigMap,extraObjects[0].metadata.name=extra",
		"manager.replicas=many",
		"metrics.port=70000",
		"manager.replica=2",
	}
}

// TestSwitches compares what each value of a chart changes with testdata/switches.txt.
func TestSwitches(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"memcached", "multigroup", "shop"} {
		chart, err := Make(golden(t, name))
		if err != nil {
			t.Fatal(err)
		}
		release, namespace := name+"-operator", name+"-operator-system"
		before, err := render(chart.Files, nil, release, namespace)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range switches() {
			isWebhook := strings.Contains(set, "webhook.") || strings.Contains(set, "certManager")
			if name == "multigroup" && !isWebhook || name == "shop" && !strings.HasPrefix(set, "rbac.namespaced") {
				continue // the others have the same effect
			}
			fmt.Fprintf(&text, "=== %s --set %s\n", name, set)
			values, err := strvals.Parse(set)
			if err != nil {
				t.Fatal(err)
			}
			after, err := render(chart.Files, values, release, namespace)
			if err != nil {
				fmt.Fprintf(&text, "error: %s\n", err)
				continue
			}
			text.WriteString(changes(t, before, after))
		}
		fmt.Fprintf(&text, "=== %s as the release second\n", name)
		second, err := render(chart.Files, nil, "second", namespace)
		if err != nil {
			t.Fatal(err)
		}
		deployment := "Deployment " + namespace + "/"
		text.WriteString(difference(t, before[deployment+release+"-controller-manager"], second[deployment+"second-"+release+"-controller-manager"]))
	}
	compare(t, "testdata/switches.txt", text.String())
}

// changes returns what differs between two renderings.
func changes(t *testing.T, before, after map[string]manifest.Object) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[name]; !ok {
			fmt.Fprintf(&text, "without %s\n", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		old, ok := before[name]
		if !ok {
			fmt.Fprintf(&text, "with %s\n", name)
			continue
		}
		if diff := difference(t, old, after[name]); diff != "" {
			fmt.Fprintf(&text, "%s:\n%s", name, diff)
		}
	}
	return text.String()
}

// TestVariables checks that a switch doesn't add a variable that the manager has.
func TestVariables(t *testing.T) {
	o := golden(t, "memcached")
	manager, _ := findManager(o.Objects)
	container := containers(manager)[managerContainer(manager)]
	container["env"] = append(listAt(container, "env"), map[string]any{"name": "ENABLE_WEBHOOKS", "value": "true"})
	chart, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"webhook": map[string]any{"enabled": false}, "rbac": map[string]any{"namespaced": true}}
	rendered, err := render(chart.Files, values, o.Name, o.Name+"-system")
	if err != nil {
		t.Fatal(err)
	}
	has := map[any]int{}
	for _, variable := range listAt(containers(rendered[manager.String()])[0], "env") {
		has[valueAt(variable, "name")]++
	}
	if has["ENABLE_WEBHOOKS"] != 1 || has[watchVariable] != 1 || has["MEMCACHED_IMAGE"] != 1 {
		t.Errorf("the variables are %v", has)
	}
}

// TestLint checks that Helm has nothing to say about charts, as helm lint --strict.
func TestLint(t *testing.T) {
	for _, name := range goldens() {
		chart, err := Make(golden(t, name))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir() + "/" + name + "-operator"
		writeFiles(t, dir, chart.Files)
		linter := lint.RunAll(dir, nil, "default", lint.WithKubeVersion(&common.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}))
		for _, message := range linter.Messages {
			if message.Severity > 1 { // above information
				t.Errorf("%s: %s", name, message)
			}
		}
	}
}

// TestLongNames checks that the names of objects have at most 63 characters and don't collide.
func TestLongNames(t *testing.T) {
	chart, err := Make(golden(t, "multigroup"))
	if err != nil {
		t.Fatal(err)
	}
	release := strings.Repeat("r", 53) // Helm's limit
	objects, err := render(chart.Files, nil, release, "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o.Kind() != "CustomResourceDefinition" && (len(o.Name()) > 63 || strings.HasSuffix(o.Name(), "-")) {
			t.Errorf("the name of %s has %d characters", o, len(o.Name()))
		}
	}
	if want, err := render(chart.Files, nil, "multigroup-operator", "default"); err != nil || len(objects) != len(want) {
		t.Errorf("%d objects with a long name, %d with the default one (%v)", len(objects), len(want), err)
	}
}

// TestBraces checks that braces in manifests aren't actions of the chart.
func TestBraces(t *testing.T) {
	o := golden(t, "minimal")
	text := "{{ .Values.secret }} {{\"x\"}} }} {{- end }}\n{{ template }}: #"
	crd := o.Objects[slices.IndexFunc(o.Objects, func(o manifest.Object) bool { return o.Kind() == "CustomResourceDefinition" })]
	manifest.MapAt(crd.Fields, "spec", "names")["singular"] = text
	manager, _ := findManager(o.Objects)
	manifest.MapAt(manager.Fields, "spec", "template", "metadata", "annotations")["{{ key }}"] = text
	chart, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := render(chart.Files, nil, o.Name, o.Name+"-system")
	if err != nil {
		t.Fatal(err)
	}
	if got := textAt(rendered[crd.String()].Fields, "spec", "names", "singular"); got != text {
		t.Errorf("got %q, want %q", got, text)
	}
	if got := textAt(rendered[manager.String()].Fields, "spec", "template", "metadata", "annotations", "{{ key }}"); got != text {
		t.Errorf("got %q, want %q", got, text)
	}
}

// TestNoManager checks the error about objects without a manager.
func TestNoManager(t *testing.T) {
	objects, _ := manifest.Decode("x", []byte("apiVersion: v1\nkind: Service\nmetadata:\n  name: x\n"))
	if _, err := Make(Options{Name: "x", Objects: objects}); err == nil || !strings.Contains(err.Error(), "no Deployment of a manager") {
		t.Errorf("got %v", err)
	}
}
