package project

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// HasPlugin reports whether the file has an entry for a plugin.
func (c *Config) HasPlugin(key string) bool { return safeyaml.Child(c.root, "plugins", key) != nil }

// PluginConfig decodes the entry of a plugin into out, which has json tags. It returns false if there is no entry.
func (c *Config) PluginConfig(key string, out any) (bool, error) {
	value, ok := c.get([]any{"plugins", key})
	if !ok || value == nil {
		return c.HasPlugin(key), nil
	}
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return true, findingAt(safeyaml.Child(c.root, "plugins", key), "correct it, or remove the entry", "the entry of plugin %s: %v", key, err)
	}
	return true, nil
}

// SetPluginConfig records the entry of a plugin, a value with json tags. Nil removes it.
func (c *Config) SetPluginConfig(key string, value any) error {
	if value == nil {
		return c.put([]any{"plugins", key}, nil)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("plugin %s: %w", key, err)
	}
	// Unlike encoding/json, YAML distinguishes integers from fractions.
	var plain any
	if err := safeyaml.Unmarshal(data, &plain); err != nil {
		return fmt.Errorf("plugin %s: %w", key, err)
	}
	return c.atomically(func() error { return c.putDeep([]any{"plugins", key}, plain) })
}

// state returns the entry of Operon.
func (c *Config) state() *yaml.Node { return safeyaml.Child(c.root, "plugins", keyState) }
