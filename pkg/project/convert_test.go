package project

import "testing"

// TestConvert checks what PROJECT files of older versions become, up to the layout go/v4.
func TestConvert(t *testing.T) {
	t.Parallel()
	facts := func(dir, kind string) (AlphaFacts, error) {
		return AlphaFacts{Controller: dir == "apis/cache/v1" || dir == "api/v1", Namespaced: kind == "Memcached", Validation: kind == "Memcached"}, nil
	}
	for name, c := range map[string][2]string{
		"2": {`# Mine.
domain: example.com
multigroup: true
repo: example.com/walk
resources:
- group: cache
  kind: Memcached
  version: v1
- group: ship
  kind: Frigate
  version: v1beta1
version: "2"
`, `# Mine.
domain: example.com
layout:
  - go.kubebuilder.io/v4
multigroup: true
projectName: walk
repo: example.com/walk
resources:
  - api:
      crdVersion: v1
      namespaced: true
    controller: true
    domain: example.com
    group: cache
    kind: Memcached
    path: example.com/walk/api/cache/v1
    version: v1
    webhooks:
      validation: true
      webhookVersion: v1
  - api:
      crdVersion: v1
    domain: example.com
    group: ship
    kind: Frigate
    path: example.com/walk/api/ship/v1beta1
    version: v1beta1
version: "3"
`},
		"3-alpha": {`domain: example.com
layout: go.kubebuilder.io/v2
projectName: mine
repo: example.com/walk
resources:
- crdVersion: v1
  group: cache
  kind: Redis
  version: v1
version: 3-alpha
plugins:
  go.sdk.operatorframework.io/v2-alpha: {}
`, `domain: example.com
layout:
  - go.kubebuilder.io/v4
projectName: mine
repo: example.com/walk
resources:
  - api:
      crdVersion: v1
    controller: true
    domain: example.com
    group: cache
    kind: Redis
    path: example.com/walk/api/v1
    version: v1
version: "3"
plugins:
  manifests.sdk.operatorframework.io/v2: {}
  scorecard.sdk.operatorframework.io/v2: {}
`},
		"bundles": {`layout:
- kustomize.common.kubebuilder.io/v1
- base.go.kubebuilder.io/v3
- mine.example.com/v3
version: "3"
`, `layout:
- kustomize.common.kubebuilder.io/v2
- base.go.kubebuilder.io/v4
- mine.example.com/v3
version: "3"
`},
	} {
		converted, err := Convert([]byte(c[0]), "walk", facts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		config, err := Parse(converted)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !config.OlderLayout() {
			t.Errorf("%s: layout %v is none of the older", name, config.Layout())
		}
		if err := config.MoveToV4(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := string(config.Bytes()); got != c[1] {
			t.Errorf("%s became\n%s\nand is to become\n%s", name, got, c[1])
		}
		if config.OlderLayout() || config.CheckLayout() != nil {
			t.Errorf("%s: layout %v", name, config.Layout())
		}
		again, err := Convert([]byte(c[1]), "other", nil)
		if err != nil || string(again) != c[1] {
			t.Errorf("%s: again it becomes\n%s(%v)", name, again, err)
		}
	}
}
