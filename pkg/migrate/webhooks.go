package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// webhookPosition matches the path of an operation in a JSON patch up to the index of a webhook.
var webhookPosition = lazyregexp.New(`(\bpath["']?\s*:\s*["']?/webhooks/)(\d+)`)

// UpdateWebhookPatches updates the indexes in JSON patches of webhook configurations whose webhooks have another order
// than before: controller-tools v0.23 sorts them by name.
func UpdateWebhookPatches(before, after *worktree.Tree) error {
	files, err := readConfig(after, func(name string) bool { return path.Ext(name) == ".yaml" && before.Exists(name) })
	if err != nil {
		return err
	}
	positions := map[string]map[string]string{} // kind → old index → new index
	for _, f := range files {
		oldText, err := before.ReadFile(f.name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", f.name, err)
		}
		if bytes.Equal(oldText, f.text) {
			continue
		}
		ordered := webhookNames(f.text)
		for kind, old := range webhookNames(oldText) {
			positions[kind] = map[string]string{}
			for i, webhook := range old {
				if to := slices.Index(ordered[kind], webhook); to >= 0 && to != i {
					positions[kind][strconv.Itoa(i)] = strconv.Itoa(to)
				}
			}
		}
	}
	if len(positions) == 0 {
		return nil
	}
	kustomizations, err := readConfig(after, isKustomization)
	if err != nil {
		return err
	}
	done := map[string]bool{} // patches that several kustomizations use
	for _, f := range kustomizations {
		text := f.text
		for _, p := range jsonPatches(f.text) {
			to := positions[p.Target.Kind]
			file := path.Join(path.Dir(f.name), p.Path)
			switch {
			case len(to) == 0:
			case p.Patch.Value != "" && hasOriginalIndexes(p.Patch.Value):
				lines := bytes.SplitAfter(text, []byte("\n"))
				end := min(p.Patch.Line+strings.Count(p.Patch.Value, "\n")+1, len(lines))
				for i := p.Patch.Line - 1; i < end; i++ {
					lines[i] = renumberWebhooks(lines[i], to)
				}
				text = bytes.Join(lines, nil)
				after.WriteFile(f.name, text, 0o644)
			case p.Path != "" && !done[file] && after.Exists(file):
				done[file] = true
				patch, err := after.ReadFile(file)
				if err != nil {
					return fmt.Errorf("reading %s: %w", file, err)
				}
				if hasOriginalIndexes(string(patch)) {
					after.WriteFile(file, renumberWebhooks(patch, to), 0o644)
				}
			}
		}
	}
	return nil
}

// webhookNames returns the names of webhooks in a stream of objects, by the kind of their configuration.
func webhookNames(stream []byte) map[string][]string {
	all := map[string][]string{}
	objects, _ := safeyaml.Documents[struct {
		Kind     string
		Webhooks []struct{ Name string }
	}](stream)
	for _, object := range objects {
		for _, webhook := range object.Webhooks {
			all[object.Kind] = append(all[object.Kind], webhook.Name)
		}
	}
	return all
}

// lostWebhook returns a generated webhook that only the first stream of objects has, or "".
func lostWebhook(after *worktree.Tree, oldText, newText []byte) (string, error) {
	generated, err := after.ReadFile(project.WebhookManifests)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading config/webhook/manifests.yaml: %w", err)
	}
	current, all := webhookNames(newText), webhookNames(generated)
	old := webhookNames(oldText)
	for _, kind := range slices.Sorted(maps.Keys(old)) {
		for _, name := range old[kind] {
			if slices.Contains(all[kind], name) && len(current[kind]) > 0 && !slices.Contains(current[kind], name) {
				return name, nil
			}
		}
	}
	return "", nil
}

// patchEntry is an entry of a kustomization for a patch with a target.
type patchEntry struct {
	Path   string
	Patch  yaml.Node
	Target struct{ Kind string }
}

// jsonPatches returns the entries of a kustomization for patches, of which some may be strategic merge patches.
func jsonPatches(kustomization []byte) []patchEntry {
	var fields struct {
		Patches []patchEntry
		JSON    []patchEntry `yaml:"patchesJson6902"`
	}
	if safeyaml.Unmarshal(kustomization, &fields) != nil {
		return nil
	}
	return append(fields.Patches, fields.JSON...)
}

// hasOriginalIndexes reports whether the indexes in a JSON patch are those before the patch: it neither inserts nor
// removes webhooks.
func hasOriginalIndexes(patch string) bool {
	var operations []struct{ Op, Path string }
	return safeyaml.Unmarshal([]byte(patch), &operations) == nil && !slices.ContainsFunc(operations, func(o struct{ Op, Path string }) bool {
		return path.Dir(o.Path) == "/webhooks" && path.Base(o.Path) != "-" && o.Op != "replace" && o.Op != "test"
	})
}

// renumberWebhooks replaces the indexes of webhooks in a JSON patch.
func renumberWebhooks(text []byte, to map[string]string) []byte {
	return webhookPosition.ReplaceAllFunc(text, func(found []byte) []byte {
		at := webhookPosition.FindSubmatch(found)
		if position, ok := to[string(at[2])]; ok {
			return append(slices.Clone(at[1]), position...)
		}
		return found
	})
}
