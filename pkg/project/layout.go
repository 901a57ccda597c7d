package project

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// unsupportedLayout returns the error of a command that does not support a layout, with how to proceed.
func unsupportedLayout(chain []string, facts *layout.Facts) error {
	reason := "this command supports only Go projects (" + LayoutGoV4 + ")"
	name, version, _ := strings.Cut(chain[0], "/")
	switch {
	case facts.Unsupported != "":
		reason = facts.Unsupported
	case facts.Older:
		reason = fmt.Sprintf("only generate, create api, delete api and run local support it, other commands need %s; run 'operon upgrade', which moves the project to that layout", LayoutGoV4)
	case strings.HasSuffix(name, "go.kubebuilder.io") && atLeast(version+".0", 5, 0):
		reason = fmt.Sprintf("newer than this Operon, which knows %s and, for upgrade, %s and %s; update Operon, or correct layout", LayoutGoV4, LayoutGoV3, LayoutGoV2)
	case strings.HasSuffix(name, "go.kubebuilder.io"):
		reason = fmt.Sprintf("Go projects of layout %s must be moved to %s first; run 'operon upgrade', which does that", version, LayoutGoV4)
	}
	for _, f := range layout.All() {
		if facts.Unsupported == "" && strings.HasPrefix(name, f.Family()+".sdk.") {
			reason = fmt.Sprintf("%s projects of layout %s are not supported, only of %s", f.Name, version, f.Key())
		}
	}
	return diag.Finding{Position: diag.Position{File: FileName}, Problem: "layout " + strings.Join(chain, ",") + ": " + reason}
}

// Refuse returns an error about the layout of the project, with the reason.
func (c *Config) Refuse(reason string) error {
	return diag.Finding{Position: diag.Position{File: FileName}, Problem: "layout " + strings.Join(c.Layout(), ",") + ": " + reason}
}

// CheckLayout returns an error unless the project has the layout that Operon scaffolds.
func (c *Config) CheckLayout() error {
	if chain := c.Layout(); !layout.Has(chain, LayoutGoV4) && !layout.Has(chain, LayoutGoV4Alpha) {
		return unsupportedLayout(chain, c.Facts())
	}
	return nil
}

// CheckOlderLayout is CheckLayout that also accepts LayoutGoV3.
func (c *Config) CheckOlderLayout() error {
	if c.Facts().Older {
		return nil
	}
	return c.CheckLayout()
}

// Facts returns the facts of the project's layout.
func (c *Config) Facts() *layout.Facts { return layout.Of(c.Layout(), c.more...) }

// HasGoCode reports whether the operator is written in Go, in contrast to those whose image contains only charts, roles or playbooks.
func (c *Config) HasGoCode() bool { return c.Facts().Runtime == nil }

// Owns reports whether a kind is defined in the project.
func (c *Config) Owns(r Resource) bool {
	return !r.Core && !r.External && (!c.HasGoCode() || strings.HasPrefix(r.Path, c.Repo()+"/"))
}

// Reconciles reports whether the operator watches the resources of a kind.
func (c *Config) Reconciles(r Resource) bool {
	return r.HasController() || !c.HasGoCode() || c.IsChart(r)
}

// HasTypes reports whether the kind of a resource has Go types, in this project or in another module.
func (c *Config) HasTypes(r Resource) bool { return c.HasGoCode() && !c.IsChart(r) }

// HasKnownLayout reports whether the layout is one of layout.All, of those that the project was read with, or any of Go.
func (c *Config) HasKnownLayout() bool {
	if !c.HasGoCode() {
		return true
	}
	for _, plugin := range c.Layout() {
		for _, language := range []string{"go", "helm", "ansible"} {
			if strings.HasPrefix(plugin, language) {
				return language == "go"
			}
		}
	}
	return false
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
