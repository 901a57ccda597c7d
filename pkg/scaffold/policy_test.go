package scaffold

import "testing"

func TestPolicyFor(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]policy{
		"README.md":                                   keep,
		".github/workflows/test.yml":                  keep,
		"config/rbac/memcached_admin_role.yaml":       keep,
		"config/rbac/role.yaml":                       refuse,
		"go.mod":                                      merge,
		"config/crd/kustomization.yaml":               shared,
		"internal/controller/cache/suite_test.go":     shared,
		"internal/controller/memcached_controller.go": refuse,
		"api/v1/memcached_types.go":                   refuse,
		"api/v1/groupversion_info.go":                 shared,
		"Makefile":                                    refuse,
		"config/default/manager_metrics_patch.yaml":   refuse,
	} {
		if got := policyFor(name); got != want {
			t.Errorf("%s: policy %d, want %d", name, got, want)
		}
	}
}
