package project

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/layout"
)

// LayoutGoV2 is the layout of kubebuilder v2 and operator-sdk 1.0 to 1.2. It has the directories of LayoutGoV3.
const LayoutGoV2 = "go.kubebuilder.io/v2"

// keyOldPlugin is the plugin key of operator-sdk 1.0 to 1.2 for the features of keyManifests and keyScorecard.
const keyOldPlugin = "go.sdk.operatorframework.io/v2-alpha"

// OlderLayout reports whether the project has the directories of a layout before LayoutGoV4.
func (c *Config) OlderLayout() bool {
	return c.Facts().Older || layout.Has(c.Layout(), LayoutGoV2) || layout.Has(c.Layout(), LayoutGoV4Alpha)
}

// HasAPIs reports whether types of the project are below a directory.
func (c *Config) HasAPIs(dir string) bool {
	return slices.ContainsFunc(c.Resources(), func(r Resource) bool {
		return strings.HasPrefix(r.Path, path.Join(c.Repo(), dir)+"/")
	})
}

// MoveToV4 records that the project has the layout go/v4: in the chain of plugins, in import paths below apis, and in the
// versions of CRDs and webhook configurations, of which only v1 is supported.
func (c *Config) MoveToV4() error {
	var chain []any
	for _, plugin := range c.Layout() {
		name, _, _ := strings.Cut(plugin, "/")
		switch {
		case plugin == LayoutGoV2 || plugin == LayoutGoV3 || plugin == LayoutGoV4Alpha:
			plugin = LayoutGoV4
		case name == "base.go.kubebuilder.io":
			plugin = "base." + LayoutGoV4
		case name == "kustomize.common.kubebuilder.io":
			plugin = name + "/v2"
		}
		chain = append(chain, plugin)
	}
	return c.atomically(func() error {
		if err := c.put([]any{"layout"}, chain); err != nil {
			return err
		}
		// The layout does not support options of the manager in a file.
		if err := c.put([]any{"componentConfig"}, nil); err != nil {
			return err
		}
		if c.HasPlugin(keyOldPlugin) {
			for _, key := range []string{keyManifests, keyScorecard} {
				if err := c.setPlugin(key, map[string]any{}); err != nil {
					return err
				}
			}
			if err := c.setPlugin(keyOldPlugin, nil); err != nil {
				return err
			}
		}
		for _, r := range c.Resources() {
			if rest, ok := strings.CutPrefix(r.Path, path.Join(c.Repo(), OldAPIDir)+"/"); ok {
				r.Path = path.Join(c.Repo(), APIDir, rest)
			}
			if r.API != nil && r.API.CRDVersion != "" {
				r.API.CRDVersion = "v1"
			}
			if r.Webhooks != nil && r.Webhooks.WebhookVersion != "" {
				r.Webhooks.WebhookVersion = "v1"
			}
			r.Core = r.Core || strings.HasPrefix(r.Path, "k8s.io/api/")
			if err := c.UpdateResource(r); err != nil {
				return err
			}
		}
		return nil
	})
}
