package main

import (
	"context"
	"path/filepath"
	"slices"
)

// Programs from other modules. Newer releases of nfpm need a module that not every module proxy serves.
const (
	nfpm     = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"
	minisign = "aead.dev/minisign/cmd/minisign@v0.3.0"
)

// tools returns the programs that this release needs.
func (r *release) tools() (tools []string) {
	if slices.ContainsFunc(r.platforms, platform.hasPackages) {
		tools = append(tools, nfpm)
	}
	if r.key != "" {
		tools = append(tools, minisign)
	}
	return tools
}

// installTools builds these programs.
func (r *release) installTools(ctx context.Context) error {
	c := command{dir: r.stage, env: []string{"CGO_ENABLED=0", "GOBIN=" + filepath.Join(r.stage, "tools")}}
	for _, tool := range r.tools() {
		if _, err := c.run(ctx, "go", "install", tool); err != nil {
			return err
		}
	}
	return nil
}

// tool returns the path of one of them.
func (r *release) tool(name string) string {
	return filepath.Join(r.stage, "tools", host().executable(name))
}
