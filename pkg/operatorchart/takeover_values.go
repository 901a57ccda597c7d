package operatorchart

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// nothing is a base without units: all of ours is an edit, and all of theirs is new.
type nothing struct{}

func (nothing) Has(f merge.Fact) bool { return f.Part != merge.Exists && len(f.Lines) == 0 }

// withValues adds the generated values that a user lacks to the user's. Values of older versions of the plugin get their current names.
func (c *Chart) withValues(ours, made []byte) ([]byte, error) {
	if isOlder(ours) {
		return c.fromOlder(ours, made)
	}
	ours, err := renamed(ours)
	if err != nil {
		return nil, err
	}
	return added(ours, headComment.ReplaceAll(made, nil))
}

// headComment is the comment about all values, which stays the user's.
var headComment = lazyregexp.New(`\A(#.*\n)+\n`)

// added adds the values that only others has to ours.
func added(ours, others []byte) ([]byte, error) {
	merged, _, err := merge.MergeFile(valuesFile, ours, others, nothing{}, merge.Options{Side: merge.Ours})
	return merged, err
}

// missingValues returns the values that others have and ours lack, sorted.
func missingValues(ours, others []byte) ([]string, error) {
	var has, wants map[string]any
	if err := safeyaml.Unmarshal(ours, &has); err != nil {
		return nil, err
	}
	if err := safeyaml.Unmarshal(others, &wants); err != nil {
		return nil, err
	}
	return missingKeys(has, wants, ""), nil
}

func missingKeys(has, wants map[string]any, path string) []string {
	var missing []string
	for _, key := range slices.Sorted(maps.Keys(wants)) {
		at := strings.TrimPrefix(path+"."+key, ".")
		value, ok := has[key]
		inner, isMapping := value.(map[string]any)
		more, isSection := wants[key].(map[string]any)
		switch {
		case !ok:
			missing = append(missing, at)
		case isMapping && isSection && len(inner) > 0 && slices.Contains(sections(), at):
			missing = append(missing, missingKeys(inner, more, at)...)
		}
	}
	return missing
}

// sections returns the sections of the values, sorted. Other mappings are values.
func sections() []string {
	return []string{"certManager", "crd", "manager", "manager.healthProbe", "manager.image", "manager.pod", "metrics", "networkPolicy", "prometheus",
		"rbac", "rbac.helpers", "serviceAccount", "webhook"}
}

// renamed returns values of version v2-alpha of the plugin, whose releases before 4.16 had the switch "enable", by their current names.
func renamed(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := safeyaml.Unmarshal(text, &document); err != nil || len(document.Content) == 0 {
		return text, err
	}
	root, lines := document.Content[0], bytes.SplitAfter(text, []byte("\n"))
	rename := func(section *yaml.Node, from, to string) {
		i := safeyaml.ChildIndex(section, from)
		if i < 0 || safeyaml.Child(section, to) != nil {
			return
		}
		key := section.Content[i]
		line := lines[key.Line-1]
		if rest, ok := bytes.CutPrefix(line[min(key.Column-1, len(line)):], []byte(from)); ok {
			lines[key.Line-1] = slices.Concat(line[:key.Column-1], []byte(to), rest)
		}
	}
	for _, path := range sections() {
		rename(safeyaml.Child(root, strings.Split(path, ".")...), "enable", "enabled")
	}
	if env := safeyaml.Child(root, "manager", "env"); env != nil && env.Kind == yaml.MappingNode && len(env.Content) > 0 {
		rename(safeyaml.Child(root, "manager"), "env", "envOverrides")
	}
	if args := safeyaml.Child(root, "manager", "args"); args != nil && args.Kind == yaml.SequenceNode && args.Style&yaml.FlowStyle == 0 {
		for _, arg := range args.Content {
			if !isValueArg(arg.Value) { // other values set it now
				lines[arg.Line-1] = nil
			}
		}
	}
	if i := safeyaml.ChildIndex(root, "rbacHelpers"); i >= 0 && safeyaml.Child(root, "rbac") == nil {
		section := root.Content[i+1]
		rename(section, "enable", "enabled")
		first := root.Content[i].Line - 1
		lines[first] = []byte("rbac:\n  helpers:\n")
		for at := first + 1; at < len(lines) && section.Kind == yaml.MappingNode; at++ {
			if line := bytes.TrimSpace(lines[at]); len(line) > 0 && lines[at][0] != ' ' {
				break
			} else if len(line) > 0 {
				lines[at] = append([]byte("  "), lines[at]...)
			}
		}
	}
	return bytes.Join(lines, nil), nil
}

// olderNames returns the names of values by their names in version v1-alpha of the plugin.
func olderNames() map[string]string {
	return map[string]string{
		"certmanager.enable":                                "certManager.enabled",
		"controllerManager.container.args":                  "manager.args",
		"controllerManager.container.env":                   "manager.envOverrides",
		"controllerManager.container.image.imagePullPolicy": "manager.image.pullPolicy",
		"controllerManager.container.image.repository":      "manager.image.repository",
		"controllerManager.container.image.tag":             "manager.image.tag",
		"controllerManager.container.imagePullPolicy":       "manager.image.pullPolicy",
		"controllerManager.container.resources":             "manager.resources",
		"controllerManager.container.securityContext":       "manager.securityContext",
		"controllerManager.pod.labels":                      "manager.pod.labels",
		"controllerManager.replicas":                        "manager.replicas",
		"controllerManager.securityContext":                 "manager.podSecurityContext",
		"controllerManager.serviceAccountName":              "serviceAccount.name",
		"controllerManager.terminationGracePeriodSeconds":   "manager.terminationGracePeriodSeconds",
		"controllerManager.tolerations":                     "manager.tolerations",
		"controllerManager.topologySpreadConstraints":       "manager.topologySpreadConstraints",
		"crd.enable":           "crd.enabled",
		"crd.keep":             "crd.keep",
		"metrics.enable":       "metrics.enabled",
		"networkPolicy.enable": "networkPolicy.enabled",
		"prometheus.enable":    "prometheus.enabled",
		"webhook.enable":       "webhook.enabled",
	}
}

// deadNames returns values of version v1-alpha that have no current name, because the chart doesn't need them.
func deadNames() []string {
	return []string{"controllerManager.container.livenessProbe", "controllerManager.container.readinessProbe", "rbac.enable"}
}

// isOlder reports whether version v1-alpha of the plugin wrote values.
func isOlder(text []byte) bool {
	var values map[string]any
	return safeyaml.Unmarshal(text, &values) == nil && values["controllerManager"] != nil && values["manager"] == nil
}

// fromOlder moves the values of a chart of version v1-alpha into the generated ones, and keeps what the user has added.
func (c *Chart) fromOlder(text, made []byte) ([]byte, error) {
	var values map[string]any
	if err := safeyaml.Unmarshal(text, &values); err != nil {
		return nil, err
	}
	current := map[string]any{"fullnameOverride": c.settings.Base} // names didn't follow the release
	names := olderNames()
	for _, older := range slices.Sorted(maps.Keys(names)) {
		name, value := names[older], take(values, strings.Split(older, "."))
		if value == nil || c.isOlderDefault(name, value) {
			continue
		}
		if list, ok := value.([]any); ok && name == "manager.args" {
			value = slices.DeleteFunc(list, func(arg any) bool { return !isPlainArg(arg) })
		}
		current[name] = value
	}
	for _, name := range deadNames() {
		take(values, strings.Split(name, "."))
	}
	replaced, err := replaceValues(made, current)
	if err != nil || len(values) == 0 {
		return replaced, err
	}
	rest, err := manifest.Encode(values)
	if err != nil {
		return nil, err
	}
	return added(replaced, rest)
}

// take removes the value at a path, and mappings that become empty, and returns it.
func take(fields map[string]any, path []string) any {
	value := fields[path[0]]
	if len(path) > 1 {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = take(inner, path[1:])
		if len(inner) > 0 {
			return value
		}
	}
	delete(fields, path[0])
	return value
}

// replaceValues returns generated values with some of them replaced.
func replaceValues(made []byte, values map[string]any) ([]byte, error) {
	var document yaml.Node
	if err := safeyaml.Unmarshal(made, &document); err != nil {
		return nil, err
	}
	for name, value := range values {
		node := safeyaml.Child(document.Content[0], strings.Split(name, ".")...)
		if node == nil {
			continue // the operator has no such part
		}
		if err := node.Encode(value); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return nil, err
	}
	return sectionEnd.ReplaceAll(text.Bytes(), []byte("$1\n\n$2")), nil
}

// sectionEnd is the last line of a section and the first one of the next.
var sectionEnd = lazyregexp.New(`(?m)^( .*)\n([a-z#].*)$`)

// isOlderDefault reports whether a value of version v1-alpha is the plugin's, and nobody's choice.
func (c *Chart) isOlderDefault(name string, value any) bool {
	switch name {
	case "manager.image.repository":
		return value == "controller"
	case "manager.image.tag":
		return value == "latest"
	case "serviceAccount.name":
		return value == c.settings.Account
	}
	return false
}
