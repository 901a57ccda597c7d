//go:build unix

// Package behavior tests that 'test behavior' finds the faults that are put into golden projects, and none in the projects as they are.
package behavior

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// testBehavior runs 'test behavior' and returns the rules and objects of the findings.
func testBehavior(t *testing.T, dir string, code int, timeout string, environ ...string) []string {
	t.Helper()
	p := clitest.StartProcess(t, dir, environ, "test", "behavior", "-o", "json", "--timeout", timeout)
	p.MustEnd(code)
	_, text, found := strings.Cut(p.Output(), "\n{\n")
	var result struct {
		Errors, Warnings []struct{ Rule, Object string }
	}
	if err := json.Unmarshal([]byte("{"+text), &result); err != nil || !found {
		t.Fatalf("%v:\n%s", err, p.Output())
	}
	var findings []string
	for _, finding := range slices.Concat(result.Errors, result.Warnings) {
		findings = append(findings, strings.TrimSpace(finding.Rule+" "+finding.Object))
	}
	return findings
}

// A fault is a change of a golden project.
type fault struct {
	// edits are pairs of texts in the controller: what is replaced, and by what.
	edits []string
	// want are findings that must be there.
	want []string
}

const (
	controller = "internal/controller/memcached_controller.go"
	markers    = "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list;watch\n"
	configMaps = "// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=get;create;update\n"
	reconciled = "\tdeployment, err := r.reconcileDeployment(ctx, obj)\n"
)

// imports adds an import to the controller.
func imports(path string) []string { return []string{"import (\n", "import (\n\t\"" + path + "\"\n"} }

// faults are the faults of the memcached operator.
func faults() map[string]fault {
	return map[string]fault{
		"no permission": {
			edits: []string{"// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update\n", ""},
			want:  []string{"forbidden-request"},
		},
		"update without a comparison": {
			edits: []string{"\tswitch result {\n", "\tif err := r.Update(ctx, deployment); err != nil {\n\t\treturn deployment, err\n\t}\n\tswitch result {\n"},
			want:  []string{"write-without-change deployments.apps default/memcached-sample"},
		},
		"time in each pass": {
			edits: slices.Concat([]string{
				markers, markers + "// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=update\n",
				reconciled, "\tobj.Annotations = map[string]string{\"checked\": time.Now().Format(time.RFC3339Nano)}\n\tif err := r.Update(ctx, obj); err != nil {\n\t\treturn ctrl.Result{}, err\n\t}\n" + reconciled,
			}),
			want: []string{"changing-status memcacheds.cache.example.com default/memcached-sample", "unsettled"},
		},
		"heartbeat in an object that nobody owns": {
			edits: []string{
				markers, markers + configMaps,
				reconciled, "\tbeat := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: obj.Namespace, Name: \"beat\"}, Data: map[string]string{\"at\": time.Now().String()}}\n" +
					"\tif err := r.Create(ctx, beat); apierrors.IsAlreadyExists(err) {\n\t\t_ = r.Update(ctx, beat)\n\t}\n" + reconciled,
				"\treturn ctrl.Result{}, err\n}\n\n// isOutdated", "\treturn ctrl.Result{RequeueAfter: 3 * time.Second}, err\n}\n\n// isOutdated",
			},
			want: []string{"write-at-rest configmaps default/beat", "left-behind configmap default/beat"},
		},
		"no watch of the Deployment": {
			edits: []string{"\t\tOwns(&appsv1.Deployment{}).\n", "", "\t\tWatchesMetadata(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.requestForPod)).\n", "\t\tWatchesMetadata(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []ctrl.Request { return nil })).\n"},
			want:  []string{"not-repaired deployment default/memcached-sample"},
		},
		"fight with itself": {
			edits: []string{
				"\tmaps.Copy(deployment.Labels, r.allLabels(obj))\n", "\tmaps.Copy(deployment.Labels, r.allLabels(obj))\n\tif deployment.Labels[\"side\"] == \"left\" {\n\t\tdeployment.Labels[\"side\"] = \"right\"\n\t} else {\n\t\tdeployment.Labels[\"side\"] = \"left\"\n\t}\n",
			},
			want: []string{"fight-over-field deployment default/memcached-sample", "unsettled"},
		},
		"list without a cache": {
			edits: slices.Concat(imports("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"), []string{
				reconciled, "\tpods := &unstructured.UnstructuredList{}\n\tpods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(\"PodList\"))\n\tif err := r.List(ctx, pods); err != nil {\n\t\treturn ctrl.Result{}, err\n\t}\n" + reconciled,
			}),
			want: []string{"uncached-list pods"},
		},
		"finalizer that stays": {
			edits: []string{
				markers, markers + "// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=update\n",
				reconciled, "\tif controllerutil.AddFinalizer(obj, \"example.com/stays\") {\n\t\tif err := r.Update(ctx, obj); err != nil {\n\t\t\treturn ctrl.Result{}, err\n\t\t}\n\t}\n" + reconciled,
			},
			want: []string{"left-behind memcached default/memcached-sample"},
		},
	}
}

// commonFaults are the faults that are tested without -thorough.
var commonFaults = []string{"no permission", "update without a comparison", "heartbeat in an object that nobody owns"}

// TestFaults finds each fault.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, f := range faults() {
		if !*clitest.Thorough && !slices.Contains(commonFaults, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := clitest.CopyGolden(t, "memcached-operator")
			clitest.SetFreeWebhookPort(t, dir)
			for edit := range slices.Chunk(f.edits, 2) {
				clitest.EditFile(t, dir, controller, edit[0], edit[1])
			}
			if code, _, errOut := clitest.Run(t, dir, t.TempDir(), "generate"); code != 0 {
				t.Fatal(errOut)
			}
			got := testBehavior(t, dir, 1, "20s")
			for _, want := range f.want {
				if !slices.ContainsFunc(got, func(finding string) bool { return strings.HasPrefix(finding, want) }) {
					t.Errorf("findings %q lack %q", got, want)
				}
			}
		})
	}
}

// TestNoFaults finds nothing in the golden projects.
func TestNoFaults(t *testing.T) {
	t.Parallel()
	names := []string{"memcached-operator", "site-operator"}
	if *clitest.Thorough {
		names = append(names, "ssa-operator")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := clitest.CopyGolden(t, name)
			var environ []string
			if name == "site-operator" { // it has no code
				program, err := clitest.Runtime()
				if err != nil {
					t.Fatal(err)
				}
				environ = []string{clitest.RuntimeVariable + "=" + program}
			} else {
				clitest.SetFreeWebhookPort(t, dir)
			}
			if got := testBehavior(t, dir, 0, "2m", environ...); len(got) > 0 {
				t.Errorf("findings %q", got)
			}
		})
	}
}
