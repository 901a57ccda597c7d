package refactor

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestDeleteWebhookUndoesCreate checks that create webhook followed by delete webhook changes no byte, for each kind of
// webhook, in both layouts, and with and without webhooks of another API.
func TestDeleteWebhookUndoesCreate(t *testing.T) {
	clitest.SkipIfShort(t, "type-checks many projects")
	t.Parallel()
	const memcached = " --group cache --version v1 --kind Memcached "
	for _, layout := range []string{"--license none", "--multigroup"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			dir := clitest.NewProject(t, "init --domain example.com --repo example.com/undo "+layout,
				createBoth+"--group cache --version v1alpha1 --kind Memcached",
				"create api --resource --controller=false"+memcached,
				"create api --resource --controller=false --group cache --version v1 --kind Frigate --namespaced=false",
				"create api --resource --controller=false --group cache --version v1alpha1 --kind Frigate --namespaced=false",
				"create api --resource=false --controller --group apps --version v1 --kind Deployment")
			undo := func(api, create, remove string) {
				t.Helper()
				before := clitest.CopyTree(t, dir)
				clitest.MustRun(t, dir, strings.Fields("create webhook "+api+create)...)
				clitest.MustRun(t, dir, strings.Fields("delete webhook "+api+remove)...)
				clitest.CompareTrees(t, before, dir)
				if t.Failed() {
					t.Fatalf("after create webhook %s%s and delete webhook %[1]s%[3]s", api, create, remove)
				}
			}
			const all = "--defaulting --programmatic-validation --validation-path /validate-me --conversion --spoke v1alpha1"
			undo(memcached, all, "--conversion --defaulting --programmatic-validation")
			undo(" --group apps --version v1 --kind Deployment ", "--defaulting --programmatic-validation", "")
			undo(" --group core --version v1 --kind Pod ", "--defaulting --defaulting-path /mutate-pods", "--defaulting")
			undo(" --group apiextensions --version v1 --kind CustomResourceDefinition ", "--programmatic-validation --external-api-domain k8s.io"+
				" --external-api-path k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", "")
			clitest.MustRun(t, dir, strings.Fields("create webhook --group cache --version v1 --kind Frigate --defaulting --conversion --spoke v1alpha1")...)
			undo(memcached, all, "")
			undo(" --group apps --version v1 --kind Deployment ", "--programmatic-validation", "")

			// An API goes with its webhooks.
			before := clitest.CopyTree(t, dir)
			clitest.MustRun(t, dir, strings.Fields(createBoth+"--group cache --version v1 --kind Redis")...)
			clitest.MustRun(t, dir, strings.Fields("create webhook --group cache --version v1 --kind Redis --defaulting --programmatic-validation")...)
			clitest.MustRun(t, dir, strings.Fields("delete api --group cache --version v1 --kind Redis")...)
			clitest.CompareTrees(t, before, dir)
		})
	}
}

// TestDeleteSomeWebhooks adds kinds of webhooks one by one and deletes them in several orders.
func TestDeleteSomeWebhooks(t *testing.T) {
	clitest.SkipIfShort(t, "type-checks many projects")
	t.Parallel()
	const memcached = " --group cache --version v1 --kind Memcached "
	dir := clitest.NewProject(t, "init --domain example.com --repo example.com/some",
		"create api --resource --controller=false --group cache --version v1alpha1 --kind Memcached",
		"create api --resource --controller=false --group cache --version v1beta1 --kind Memcached",
		"create api --resource --controller=false"+memcached)
	empty := clitest.CopyTree(t, dir)
	run := func(command, kinds string) {
		t.Helper()
		clitest.MustRun(t, dir, strings.Fields(command+" webhook"+memcached+kinds)...)
	}
	kinds := []string{"--defaulting", "--programmatic-validation --validation-path /validate-me", "--conversion --spoke v1alpha1", "--conversion --spoke v1beta1"}
	named := []string{"--defaulting", "--programmatic-validation", "--conversion --spoke v1alpha1", "--conversion --spoke v1beta1"}
	for _, order := range [][]int{{0, 1, 2, 3}, {2, 1, 0, 3}} {
		// Backwards, each step is what was there before it.
		var steps []string
		for _, i := range order {
			steps = append(steps, clitest.CopyTree(t, dir))
			run("create", kinds[i])
		}
		full := clitest.CopyTree(t, dir)
		for at := len(order) - 1; at >= 0; at-- {
			run("delete", named[order[at]])
			clitest.CompareTrees(t, steps[at], dir)
			if t.Failed() {
				t.Fatalf("after delete webhook %s in %v", named[order[at]], order)
			}
		}
		// Forwards, what is left is sound, and nothing is left at the end.
		dir = full
		for _, i := range order {
			run("delete", named[i])
			checkWhole(t, dir)
			if t.Failed() {
				t.Fatalf("after delete webhook %s, in the order %v", named[i], order)
			}
		}
		clitest.CompareTrees(t, empty, dir)
	}
}

// TestWebhooksOfOlderProjects creates and deletes webhooks in a project whose kustomization lists strategic merge
// patches, and of a kind with other webhooks in the package of its types, as older tools wrote them. Both together
// change no byte.
func TestWebhooksOfOlderProjects(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it type-checks a project several times")
	const memcached = " --group cache --version v1 --kind Memcached "
	dir := clitest.NewProject(t, "init --domain example.com --repo example.com/older", createBoth+memcached)
	files := clitest.ReadTree(t, dir)
	clitest.WriteFiles(t, dir, map[string]string{
		"config/default/kustomization.yaml": strings.NewReplacer(
			"patches:\n", "patchesStrategicMerge:\n",
			"- path: manager_metrics_patch.yaml\n  target:\n    kind: Deployment\n", "- manager_metrics_patch.yaml\n",
			"#- path: manager_webhook_patch.yaml\n#  target:\n#    kind: Deployment\n", "#- manager_webhook_patch.yaml\n",
		).Replace(files["config/default/kustomization.yaml"]),
		"config/default/manager_metrics_patch.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: controller-manager\n  namespace: system\nspec:\n  paused: false\n",
	})
	undo := func(kinds string) {
		t.Helper()
		before := clitest.CopyTree(t, dir)
		clitest.MustRun(t, dir, strings.Fields("create webhook"+memcached+kinds)...)
		checkWhole(t, dir)
		clitest.MustRun(t, dir, strings.Fields("delete webhook"+memcached+kinds)...)
		clitest.CompareTrees(t, before, dir)
	}
	clitest.CheckOverlays(t, dir)
	undo("--defaulting --programmatic-validation")

	clitest.WriteFiles(t, dir, map[string]string{
		"api/v1/memcached_webhook.go": "package v1\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n\n" +
			"// +kubebuilder:webhook:path=/validate-cache-example-com-v1-memcached,mutating=false,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=memcacheds,verbs=create,versions=v1,name=vmemcached.kb.io,admissionReviewVersions=v1\n\n" +
			"// SetupWebhookWithManager does nothing.\nfunc (r *Memcached) SetupWebhookWithManager(ctrl.Manager) error { return nil }\n",
		"PROJECT": strings.Replace(files["PROJECT"], "  version: v1\nversion:", "  version: v1\n  webhooks:\n    validation: true\n    webhookVersion: v1\nversion:", 1),
	})
	clitest.MustRun(t, dir, "generate")
	undo("--defaulting")
	clitest.MustRun(t, dir, strings.Fields("create webhook"+memcached+"--defaulting")...)
	if out := clitest.MustReject(t, dir, strings.Fields("delete webhook"+memcached+"--programmatic-validation")...); !strings.Contains(out, "api/v1/memcached_webhook.go: webhooks in the package of their types cannot be deleted; run 'operon upgrade'") {
		t.Errorf("got %s", out)
	}
}
