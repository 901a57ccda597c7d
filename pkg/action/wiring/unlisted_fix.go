package wiring

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// replaceCRD deletes the CRD of a kind whose name or group has changed, and names the new one in its place in the kustomizations and in their
// patches. It reports false, and changes nothing, if the old CRD may still be used: it belongs to another operator according to PROJECT,
// another CRD of its name is generated, or the new one is already listed beside it and patched.
func replaceCRD(p *action.Project, tree *worktree.Tree, all []kustomization, of *kustomization, name, now string, generated map[string][]byte) (bool, error) {
	data, err := tree.ReadFile(name)
	if err != nil {
		return false, err
	}
	old, replacement := identify(data), identify(generated[now])
	if config, err := p.LoadFrom(tree, action.AnyLayout); err != nil || slices.ContainsFunc(config.Resources(), func(r project.Resource) bool {
		return (r.External || r.Core) && r.APIGroup() == old.group && r.Kind == old.kind
	}) {
		return false, nil
	}
	for _, content := range generated {
		if bytes.Contains(content, []byte("kind: CustomResourceDefinition")) && identify(content).name == old.name {
			return false, nil
		}
	}
	edited := map[string][]byte{}
	for _, k := range all {
		content, err := tree.ReadFile(k.name) // another CRD can have been replaced before
		if err != nil {
			return false, err
		}
		edited[k.name] = replaceName(k.replaceEntry(content, name, now), old.name, replacement.name)
		for _, patch := range k.patches {
			content, err := tree.ReadFile(patch)
			if err != nil || !containsName(content, old.name) {
				continue
			}
			if slices.ContainsFunc(k.patches, func(other string) bool {
				content, err := tree.ReadFile(other)
				return err == nil && containsName(content, replacement.name)
			}) {
				return false, nil // both would be patched twice
			}
			edited[patch] = replaceName(content, old.name, replacement.name)
		}
	}
	for file, content := range edited {
		if current, err := tree.ReadFile(file); err == nil && !bytes.Equal(current, content) {
			tree.WriteFile(file, content, worktree.FileMode)
		}
	}
	of.content = edited[of.name]
	of.included = append(slices.DeleteFunc(of.included, func(included string) bool { return included == name }), now)
	tree.Remove(name)
	return true, nil
}

// replaceEntry replaces the path of a file in the lists of a kustomization, or removes it if the new one is listed. Both are in one directory.
func (k kustomization) replaceEntry(content []byte, old, now string) []byte {
	var kept [][]byte
	for _, line := range bytes.SplitAfter(content, []byte("\n")) {
		text, isEntry := strings.CutPrefix(strings.TrimSpace(string(line)), "- ")
		if isEntry && path.Join(path.Dir(k.name), strings.Trim(strings.TrimSpace(text), `"'`)) == old {
			if slices.Contains(k.included, now) {
				continue
			}
			line = bytes.Replace(line, []byte(path.Base(old)), []byte(path.Base(now)), 1)
		}
		kept = append(kept, line)
	}
	return bytes.Join(kept, nil)
}

// nameOf matches a name where it is not part of a longer one.
func nameOf(name string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(name) + `($|[^\w.-])`)
}

func containsName(content []byte, name string) bool { return nameOf(name).Match(content) }

func replaceName(content []byte, old, now string) []byte {
	return nameOf(old).ReplaceAll(content, []byte("${1}"+now+"${2}"))
}

// includeWebhooks includes generated webhook configurations in config/default, as create webhook does. It reports whether it could.
func includeWebhooks(p *action.Project, tree *worktree.Tree, manifests []byte) (bool, error) {
	config, err := p.LoadFrom(tree, action.AnyLayout)
	if err != nil {
		return false, nil
	}
	header, _, err := p.Header(tree)
	if err != nil {
		return false, err
	}
	data := p.ProjectData(config, header)
	data.Webhook.Validation = bytes.Contains(manifests, []byte("kind: ValidatingWebhookConfiguration"))
	data.Webhook.Defaulting = bytes.Contains(manifests, []byte("kind: MutatingWebhookConfiguration"))
	missing, err := scaffold.IncludeWebhooks(tree, data)
	return err == nil && len(missing) == 0, err
}
