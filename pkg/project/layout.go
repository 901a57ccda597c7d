package project

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// unsupportedLayout returns the error of a command that does not support a layout, with how to proceed.
func unsupportedLayout(layout []string) error {
	reason := "this command supports only Go projects (" + LayoutGoV4 + ")"
	switch name, version, _ := strings.Cut(layout[0], "/"); {
	case hasLayout(layout, LayoutGoV3):
		reason = fmt.Sprintf("only generate, create api, delete api and run local support it, other commands need %s; run upgrade, which moves the project to that layout", LayoutGoV4)
	case strings.HasSuffix(name, "go.kubebuilder.io"):
		reason = fmt.Sprintf("Go projects of layout %s must be moved to %s first; run upgrade, which does that", version, LayoutGoV4)
	case hasLayout(layout, LayoutHelmV1):
		reason = "this command is for Go projects, and Helm projects have no Go code"
	case hasLayout(layout, LayoutAnsibleV1):
		reason = "this command is for Go projects, and Ansible projects have no Go code"
	case strings.HasPrefix(name, "helm.sdk."):
		reason = fmt.Sprintf("Helm projects of layout %s are not supported, only those of %s are", version, LayoutHelmV1)
	case strings.HasPrefix(name, "ansible.sdk."):
		reason = fmt.Sprintf("Ansible projects of layout %s are not supported, only those of %s are", version, LayoutAnsibleV1)
	}
	return diag.Finding{Position: diag.Position{File: FileName}, Problem: "layout " + strings.Join(layout, ",") + ": " + reason}
}

// CheckLayout returns an error unless the project has the layout that Operon scaffolds.
func (c *Config) CheckLayout() error {
	if layout := c.Layout(); !hasLayout(layout, LayoutGoV4) && !hasLayout(layout, LayoutGoV4Alpha) {
		return unsupportedLayout(layout)
	}
	return nil
}

// CheckOlderLayout is CheckLayout that also accepts LayoutGoV3.
func (c *Config) CheckOlderLayout() error {
	if c.RootLayout() {
		return nil
	}
	return c.CheckLayout()
}

// IsHelm reports whether the operator installs Helm charts and has no Go code.
func (c *Config) IsHelm() bool { return hasLayout(c.Layout(), LayoutHelmV1) }

// IsAnsible reports whether the operator runs Ansible roles or playbooks and has no Go code.
func (c *Config) IsAnsible() bool { return hasLayout(c.Layout(), LayoutAnsibleV1) }

// HasGoCode reports whether the operator is written in Go, in contrast to those whose image contains only charts, roles or playbooks.
func (c *Config) HasGoCode() bool { return !c.IsHelm() && !c.IsAnsible() }

// Technology returns the name of the layout in messages: Go, Helm or Ansible.
func (c *Config) Technology() string {
	switch {
	case c.IsHelm():
		return "Helm"
	case c.IsAnsible():
		return "Ansible"
	}
	return "Go"
}

// RootLayout reports whether main.go and the controllers are at the root, as in LayoutGoV3.
func (c *Config) RootLayout() bool { return hasLayout(c.Layout(), LayoutGoV3) }

// hasLayout reports whether a chain of plugins contains a layout or its base plugin.
func hasLayout(chain []string, layout string) bool {
	return slices.Contains(chain, layout) || slices.Contains(chain, "base."+layout)
}

// Layout is the chain of plugins of the project.
func (c *Config) Layout() []string { return textsOf(safeyaml.Child(c.root, "layout")) }

// ComponentConfig reports whether the manager reads its options from a file, as in layouts before LayoutGoV4.
func (c *Config) ComponentConfig() bool { return boolOf(safeyaml.Child(c.root, "componentConfig")) }

// MultiGroup reports whether APIs are in api/GROUP/VERSION.
func (c *Config) MultiGroup() bool { return boolOf(safeyaml.Child(c.root, "multigroup")) }

// SetMultiGroup records whether APIs are in api/GROUP/VERSION.
func (c *Config) SetMultiGroup(on bool) error { return c.put([]any{"multigroup"}, boolOrNil(on)) }

// Namespaced reports whether the manager watches one namespace.
func (c *Config) Namespaced() bool {
	return boolOf(safeyaml.Child(c.root, "namespaced")) || boolOf(safeyaml.Child(c.state(), "namespaced"))
}

// SetNamespaced records the scope of the manager: in the key of kubebuilder if the project has it or was written by a version
// that supports it, or else in the entry of Operon.
func (c *Config) SetNamespaced(on bool) error {
	stateKey := []any{"plugins", keyState, "namespaced"}
	if !c.allowsNewKeys() && safeyaml.Child(c.root, "namespaced") == nil {
		return c.put(stateKey, boolOrNil(on))
	}
	return c.atomically(func() error {
		if err := c.put([]any{"namespaced"}, boolOrNil(on)); err != nil {
			return err
		}
		return c.put(stateKey, nil)
	})
}

// allowsNewKeys reports whether the keys namespaced, controllers, module and webhook paths can be used: the file already has one
// of them, or was written by a kubebuilder that supports them. kubebuilder v4.6, the base of operator-sdk 1.42, rejects them.
func (c *Config) allowsNewKeys() bool {
	if safeyaml.Child(c.root, "namespaced") != nil || atLeast(c.CLIVersion(), 4, 15) {
		return true
	}
	resources := safeyaml.Child(c.root, "resources")
	if resources == nil {
		return false
	}
	return slices.ContainsFunc(resources.Content, func(item *yaml.Node) bool {
		webhooks := safeyaml.Child(item, "webhooks")
		return safeyaml.Child(item, "controllers") != nil || safeyaml.Child(item, "module") != nil ||
			safeyaml.Child(webhooks, "defaultingPath") != nil || safeyaml.Child(webhooks, "validationPath") != nil
	})
}

// ShortWebhooks reports whether the file was written by a kubebuilder that names the types of webhooks without "Custom".
func (c *Config) ShortWebhooks() bool { return atLeast(c.CLIVersion(), 4, 16) }

// atLeast reports whether a version such as 4.15.0 or v4.15.0-rc.0 is at least major.minor.
func atLeast(version string, major, minor int) bool {
	var x, y int
	if n, _ := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &x, &y); n < 2 {
		return false
	}
	return x > major || x == major && y >= minor
}

// HasSDKPlugin reports whether PROJECT names a plugin of operator-sdk.
func (c *Config) HasSDKPlugin() bool {
	for plugin := range safeyaml.Fields(safeyaml.Child(c.root, "plugins")) {
		if strings.Contains(plugin.Value, "sdk.operatorframework.io/") {
			return true
		}
	}
	return false
}
