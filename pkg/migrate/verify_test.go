package migrate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestVerify checks what an upgrade may make of the output of kustomizations.
func TestVerify(t *testing.T) {
	t.Parallel()
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  one: \"1\"\n  two: \"2\"\n"
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: manager\nspec:\n  template:\n    spec:\n      containers:\n      - name: manager\n        args:\n        - --other\n        - --mine=1\n"
	const webhooks = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata:\n  name: hooks\nwebhooks:\n- name: one\n  timeoutSeconds: 1\n- name: two\n"
	const list, mine = "resources:\n- default/a.yaml\n- default/deployment.yaml\n- webhook.yaml\n- mine.yaml\n", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: mine\n"
	marked := "<<<<<<< the project\nresources:\n- default/a.yaml\n=======\nresources:\n- b.yaml\n>>>>>>> current\n"
	for name, c := range map[string]struct {
		after    map[string]string // "" removes a file
		resolved map[string][]byte
		edited   string // what no scaffold wrote, of the lines
		losses   []string
		err      string
	}{
		"no change":      {},
		"a field goes":   {after: map[string]string{"default/a.yaml": strings.Replace(configMap, "  two: \"2\"\n", "", 1)}, losses: []string{"config: ConfigMap a no longer has data.two"}},
		"an object goes": {after: map[string]string{"default/a.yaml": "", "kustomization.yaml": "resources:\n- default/deployment.yaml\n- webhook.yaml\n- mine.yaml\n"}, losses: []string{"config no longer has ConfigMap a"}},
		"a field of the user's goes": {after: map[string]string{"default/a.yaml": strings.Replace(configMap, "  two: \"2\"\n", "", 1)}, edited: `two: "2"`,
			err: "config: ConfigMap a would no longer have data.two, which is in config/default/a.yaml"},
		"a field of a file that no kustomization names": {after: map[string]string{"default/a.yaml": strings.Replace(configMap, "  two: \"2\"\n", "", 1)}, edited: `two: two`,
			losses: []string{"config: ConfigMap a no longer has data.two"}},
		"an item of the user's goes": {after: map[string]string{"default/deployment.yaml": strings.Replace(deployment, "        - --mine=1\n", "", 1)}, edited: "- --mine=1",
			err: "config: Deployment manager would no longer have spec.template.spec.containers[manager].args[--mine], which is in config/default/deployment.yaml"},
		"another item goes": {after: map[string]string{"default/deployment.yaml": strings.Replace(deployment, "        - --mine=1\n", "", 1)}, edited: "- --other",
			losses: []string{"config: Deployment manager no longer has spec.template.spec.containers[manager].args[--mine]"}},
		"an object of the user's goes": {after: map[string]string{"default/a.yaml": "", "kustomization.yaml": "resources:\n- default/deployment.yaml\n- webhook.yaml\n- mine.yaml\n"}, edited: "name: a",
			err: "config would no longer have ConfigMap a, which is in config/default/a.yaml"},
		"a webhook goes": {after: map[string]string{"webhook.yaml": strings.Replace(webhooks, "- name: two\n", "", 1)}, edited: "- name: two",
			err: "config: ValidatingWebhookConfiguration hooks would no longer have webhooks[two], which is in config/webhook.yaml"},
		"a field of a webhook goes": {after: map[string]string{"webhook.yaml": strings.Replace(webhooks, "  timeoutSeconds: 1\n", "", 1)}, edited: "timeoutSeconds: 1",
			losses: []string{"config: ValidatingWebhookConfiguration hooks no longer has webhooks[one].timeoutSeconds"}},
		"the user's file goes":     {after: map[string]string{"kustomization.yaml": "resources:\n- default/a.yaml\n- default/deployment.yaml\n- webhook.yaml\n"}, err: "would no longer name config/mine.yaml"},
		"a missing file":           {after: map[string]string{"kustomization.yaml": list + "- none.yaml\n"}, err: "config would not build: "},
		"one object twice":         {after: map[string]string{"kustomization.yaml": list + "- again.yaml\n", "again.yaml": configMap}, err: "config would not build: "},
		"a conflict":               {after: map[string]string{"kustomization.yaml": marked}, resolved: map[string][]byte{"config/kustomization.yaml": []byte(list)}},
		"a conflict that is wrong": {after: map[string]string{"kustomization.yaml": marked}, resolved: map[string][]byte{"config/kustomization.yaml": []byte(list + "- none.yaml\n")}, err: "config would not build: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fsys := afero.NewOsFs()
			before, after := worktree.NewTree(fsys, dir), worktree.NewTree(fsys, dir)
			if err := os.MkdirAll(filepath.Join(dir, "config", "default"), 0o755); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{"kustomization.yaml": list, "default/a.yaml": configMap, "default/deployment.yaml": deployment, "webhook.yaml": webhooks, "mine.yaml": mine, "output.yaml": strings.Replace(configMap, `"2"`, "two", 1)} {
				if err := os.WriteFile(filepath.Join(dir, "config", file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for file, text := range c.after {
				if text == "" {
					after.Remove("config/" + file)
				} else {
					after.WriteFile("config/"+file, []byte(text), 0o644)
				}
			}
			verifier := NewVerifier(before)
			verifier.base = func(string) merge.Base { return withoutLine(c.edited) }
			losses, err := verifier.Verify(after, c.resolved)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got %v, want an error with %q", err, c.err)
				}
				return
			}
			var got []string
			for _, l := range losses {
				got = append(got, l.String())
			}
			if err != nil || !slices.Equal(got, c.losses) {
				t.Errorf("got %q, %v, want %q", got, err, c.losses)
			}
		})
	}
}

// withoutLine is a base of everything but a line.
type withoutLine string

func (b withoutLine) Has(f merge.Fact) bool { return !slices.Contains(f.Lines, string(b)) }

// TestReplaceDeprecated checks that kustomizations mean the same with the current names of their fields.
func TestReplaceDeprecated(t *testing.T) {
	t.Parallel()
	old := "bases:\n- ../crd\nresources:\n- a.yaml\ncommonLabels:\n  a: b\npatchesStrategicMerge:\n- p.yaml\n- |-\n  kind: X\n  metadata: {}\npatchesJson6902:\n- path: j.yaml\n  target:\n    kind: X\n"
	want := "resources:\n    - a.yaml\n    - ../crd\nlabels:\n    - pairs:\n        a: b\n      includeSelectors: true\npatches:\n    - path: p.yaml\n    - patch: |-\n        kind: X\n        metadata: {}\n    - path: j.yaml\n      target:\n        kind: X\n"
	if got, ok := replaceDeprecated([]byte(old)); !ok || string(got) != want {
		t.Errorf("got %t\n%s", ok, got)
	}
	if got, ok := replaceDeprecated([]byte("resources:\n- a.yaml\n")); ok {
		t.Errorf("without deprecated fields: got\n%s", got)
	}
}

// TestLostPermissions compares what roles allow, however their rules are arranged.
func TestLostPermissions(t *testing.T) {
	t.Parallel()
	rules := func(text string) map[string]any {
		return objects([]byte("kind: Role\nmetadata:\n  name: a\nrules:\n" + text))["Role a"].(map[string]any)
	}
	was := rules("- {apiGroups: [\"\", apps], resources: [pods, sets], verbs: [get, list]}\n- {nonResourceURLs: [/metrics], verbs: [get]}\n")
	for is, want := range map[string]string{
		"- {nonResourceURLs: [/metrics], verbs: [get]}\n- {apiGroups: [apps, \"\"], resources: [sets], verbs: [list, get]}\n- {apiGroups: ['*'], resources: [pods], verbs: ['*']}\n": "",
		"- {apiGroups: [\"\"], resources: [pods, sets], verbs: [get, list]}\n- {apiGroups: [apps], resources: [pods, sets], verbs: [get]}\n":                                         "rules[/metrics: get] rules[pods.apps: list] rules[sets.apps: list]",
		"- {apiGroups: ['*'], resources: ['*'], resourceNames: [a], verbs: ['*']}\n- {nonResourceURLs: ['*'], verbs: [get]}\n":                                                       "rules[pods: get list] rules[pods.apps: get list] rules[sets: get list] rules[sets.apps: get list]",
	} {
		var lost []string
		for _, at := range lostFields(nil, was, rules(is)) {
			lost = append(lost, pathText(at))
		}
		if got := strings.Join(lost, " "); got != want {
			t.Errorf("%s: got %q, want %q", is, got, want)
		}
	}
}

// TestLostItems distinguishes items without names that changed from those that are removed.
func TestLostItems(t *testing.T) {
	t.Parallel()
	items := func(ports ...any) map[string]any {
		list := []any{}
		for _, port := range ports {
			list = append(list, map[string]any{"port": port})
		}
		return map[string]any{"ingress": list}
	}
	if got := lostFields(nil, items(443), items(9443)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	if got := lostFields(nil, items(443, 80), items(443)); len(got) != 1 || pathText(got[0]) != "ingress[1]" {
		t.Errorf("got %v", got)
	}
}
