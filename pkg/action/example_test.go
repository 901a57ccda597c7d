package action_test

import (
	"context"
	"fmt"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/layouts"
	"github.com/operon-sdk/operon/pkg/diag"
)

// A program creates a project in memory and adds an API.
func Example() {
	ctx := context.Background()
	config := action.Config{
		FS: afero.NewMemMapFs(), Dir: "/work/memcached-operator", Program: "operon", Layouts: layouts.All(),
		Report: func(found diag.Findings) { fmt.Println(found) },
	}
	p, err := action.Open(ctx, config, config.Dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := p.Init(ctx, action.InitOptions{
		Domain: "example.com", Repo: "example.com/memcached-operator", ProjectVersion: "3",
		LicenseOptions: action.LicenseOptions{License: "apache2"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("next:", result.NextSteps[0])

	api := action.CreateAPIOptions{}
	api.Group, api.Version, api.Kind, api.API, api.Namespaced = "cache", "v1", "Memcached", true, true
	if result, err = p.CreateAPI(ctx, api); err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Changes {
		fmt.Println(c)
	}
	// Output:
	// next: add an API with 'operon create api'
	// updated  PROJECT
	// created  api/v1/groupversion_info.go
	// created  api/v1/memcached_types.go
	// updated  cmd/main.go
	// updated  config/crd/kustomization.yaml
	// updated  config/rbac/kustomization.yaml
	// created  config/rbac/memcached_admin_role.yaml
	// created  config/rbac/memcached_editor_role.yaml
	// created  config/rbac/memcached_viewer_role.yaml
	// created  config/samples/cache_v1_memcached.yaml
	// updated  config/samples/kustomization.yaml
}
