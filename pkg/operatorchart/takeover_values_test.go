package operatorchart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// TestWithValues checks which values older charts give to a new one.
func TestWithValues(t *testing.T) {
	chart, err := Make(golden(t, "memcached"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		ours string
		want map[string]any
	}{
		"the switch of releases before 4.16": {
			"manager:\n  replicas: 1\ncrd:\n  # Keep.\n  enable: false\n  keep: false\nprometheus:\n  enable: true # mine\nrbac:\n  helpers:\n    enable: false\n",
			map[string]any{"crd.enabled": false, "crd.keep": false, "crd.enable": nil, "prometheus.enabled": true, "rbac.helpers.enabled": false, "rbac.namespaced": false},
		},
		"the section of releases before 4.14": {
			"manager:\n  replicas: 2\n## Helpers\nrbacHelpers:\n  # On?\n  enable: false\n\nmetrics:\n  enable: true\n",
			map[string]any{"rbac.helpers.enabled": false, "rbacHelpers": nil, "metrics.enabled": true, "manager.replicas": 2},
		},
		"variables as a mapping": {
			"manager:\n  env:\n    LEVEL: debug\n", map[string]any{"manager.envOverrides.LEVEL": "debug", "manager.args": []any{"--leader-elect"}},
		},
		"arguments that other values set": {
			"manager:\n  args:\n  - --leader-elect\n  - --health-probe-bind-address=:8081\n  - --mine\n", map[string]any{"manager.args": []any{"--leader-elect", "--mine"}},
		},
		"a comment at the end": {
			"# Mine.\n\nmanager:\n  replicas: 2\nlist: []\n# - x\n", map[string]any{"list": []any{}, "webhook.enabled": true, "manager.replicas": 2},
		},
		"values of the user in v1-alpha": {
			"controllerManager:\n  replicas: 3\n  container:\n    livenessProbe: {}\n    mine: 1\nmetrics:\n  enable: false\n  serviceMonitor:\n    enabled: true\nown:\n  key: value\n",
			map[string]any{"manager.replicas": 3, "metrics.enabled": false, "metrics.enable": nil, "metrics.serviceMonitor.enabled": true, "own.key": "value",
				"controllerManager.container.mine": 1, "controllerManager.container.livenessProbe": nil, "controllerManager.replicas": nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := chart.withValues([]byte(test.ours), chart.Files[valuesFile])
			if err != nil {
				t.Fatal(err)
			}
			var values any
			if err := safeyaml.Unmarshal(text, &values); err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			for path, want := range test.want {
				if got := valueAt(values, strings.Split(path, ".")...); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s is %v, want %v:\n%s", path, got, want, text)
				}
			}
			if missing, err := missingValues(text, chart.Files[valuesFile]); err != nil || missing != nil {
				t.Errorf("missing: %v (%v)", missing, err)
			}
		})
	}
	text := "manager: {replicas: 2} # in one line\n"
	if missing, err := missingValues([]byte(text), chart.Files[valuesFile]); err != nil || len(missing) < 10 {
		t.Errorf("missing: %v (%v)", missing, err)
	}
}
