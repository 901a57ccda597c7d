package codegen

import "testing"

func TestManifests(t *testing.T) {
	t.Parallel()
	calls := []Call{
		{Args: []string{"crd", "rbac:roleName=r", "paths=./...", "output:crd:dir=deploy/crds"}},
		{Dir: "sub", Args: []string{"webhook", "paths=./...", "output:webhook:dir=../hooks"}},
		{Args: []string{"rbac:roleName=r,fileName=boss.yaml", "paths=./..."}},
		{Args: []string{"unknown"}},
	}
	for name, want := range map[string][2]bool{ // of these calls, of the scaffold
		"deploy/crds/cache.example.com_redis.yaml":      {true, false},
		"deploy/crds/kustomization.yaml":                {false, false},
		"config/crd/bases/cache.example.com_redis.yaml": {false, true},
		"config/rbac/role.yaml":                         {true, true},
		"config/rbac/role_binding.yaml":                 {false, false},
		"hooks/manifests.yaml":                          {true, false},
		"config/webhook/manifests.yaml":                 {false, true},
		"config/rbac/boss.yaml":                         {true, false},
	} {
		if got := [2]bool{ManifestMatcher(calls)(name), ManifestMatcher(nil)(name)}; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
