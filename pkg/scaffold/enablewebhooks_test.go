package scaffold

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

const peersDefault = `resources:
- ../crd
#- ../webhook
#- ../certmanager
#- ../prometheus

#patches:
#- path: manager_webhook_patch.yaml
#  target:
#    kind: Deployment

#replacements:
# - source: # metrics
#     kind: Service
#     name: controller-manager-metrics-service
#   targets:
#     - select: # prometheus
#         kind: ServiceMonitor

# - source: # webhooks
#     kind: Service
#     name: webhook-service
#   targets:
#     - select:
#         kind: Certificate
# - source:
#     kind: Service
#     name: webhook-service # again
#   targets:
#     - select:
#         kind: Certificate

# - source: # validation
#     kind: Certificate
#   targets:
#     - select:
#         kind: ValidatingWebhookConfiguration

# - source: # conversion
#     kind: Certificate
#   targets:
 
# +kubebuilder:scaffold:crdkustomizecainjectionns
`

func TestEnableWebhooks(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"\n", "\r\n"} {
		tree := worktree.NewTree(afero.NewMemMapFs(), "/")
		tree.WriteFile("config/default/kustomization.yaml", []byte(strings.ReplaceAll(peersDefault, "\n", ends)), worktree.FileMode)
		data := Data{Webhook: Webhook{Validation: true}}
		if missing := enableWebhooks(tree, data, false, false); len(missing) > 0 {
			t.Errorf("missing: %q", missing)
		}
		out, err := tree.ReadFile("config/default/kustomization.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"- ../webhook", "- ../certmanager", "patches:", "- path: manager_webhook_patch.yaml", "    kind: Deployment",
			"replacements:", " - source: # webhooks", "     name: webhook-service # again", " - source: # validation", "         kind: ValidatingWebhookConfiguration",
			"#- ../prometheus", "# - source: # metrics", "#         kind: ServiceMonitor", "# - source: # conversion"} {
			if !strings.Contains(ends+string(out), ends+want+ends) {
				t.Errorf("no line %q in\n%s", want, out)
			}
		}
		data.Webhook = Webhook{Defaulting: true}
		if missing := enableWebhooks(tree, data, false, false); len(missing) != 1 || !strings.Contains(missing[0], "MutatingWebhookConfiguration") {
			t.Errorf("what the file lacks is not named: %q", missing)
		}
	}
}

// TestUncommentTargets adds a second CRD to a replacement that is in use.
func TestUncommentTargets(t *testing.T) {
	t.Parallel()
	text := " - source:\n   targets:\n     - select:\n         name: a.example.com\n#     - select:\n#         name: b.example.com\n#     - select:\n#         name: c.example.com\n# +kubebuilder:scaffold:x\n"
	got := strings.Join(uncommentReplacements(strings.Split(text, "\n"), []string{"name: b.example.com"}), "\n")
	want := strings.Replace(text, "#     - select:\n#         name: b", "     - select:\n         name: b", 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
