package wiring

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A kustomization is one of the project's, with what it includes.
type kustomization struct {
	name    string
	content []byte
	// included are the paths of resources and components, relative to the project. line is the line of the list of resources.
	included []string
	line     int
	// namespace and prefix are what it sets for all objects, or empty. namespaceLine is the line of namespace.
	namespace, prefix string
	namespaceLine     int
	// patches are the paths of patches.
	patches []string
}

// Check reports generated manifests that have no effect in the kustomizations of the project.
func Check(p *action.Project, tree *worktree.Tree, found *calls.Found, result *codegen.Result) error {
	all, err := readKustomizations(tree)
	if err != nil || len(all) == 0 {
		return err
	}
	return errors.Join(checkIncluded(p, tree, found, all, result.Files), checkRoles(p, tree, found, all, result))
}

// checkIncluded reports generated manifests that no kustomization includes, and CRDs that were generated before their kind got another name or
// group. With Fix, it lists the CRDs.
func checkIncluded(p *action.Project, tree *worktree.Tree, found *calls.Found, all []kustomization, generated map[string][]byte) error {
	dirs, err := codegen.CRDDirs(found.Calls)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		of := slices.IndexFunc(all, func(k kustomization) bool { return path.Dir(k.name) == path.Dir(dir) })
		if of < 0 || slices.ContainsFunc(all, func(k kustomization) bool { return path.Dir(k.name) == dir }) {
			continue
		}
		if err := checkCRDs(p, tree, all, all[of], dir, generated); err != nil {
			return err
		}
	}
	return checkWebhooks(p, tree, all, generated)
}

// checkCRDs reports the CRDs of a directory that no kustomization lists, and those that are no longer generated.
func checkCRDs(p *action.Project, tree *worktree.Tree, all []kustomization, of kustomization, dir string, generated map[string][]byte) error {
	names, err := tree.Walk(dir, nil)
	if err != nil {
		return err
	}
	// Most projects list all CRDs and have no others, so none has to be read.
	current := sync.OnceValue(func() map[string]crdIdentity {
		all := map[string]crdIdentity{}
		for _, name := range names {
			if generated[name] != nil && path.Dir(name) == dir {
				all[name] = identify(generated[name])
			}
		}
		return all
	})
	recorded := sync.OnceValue(func() (kinds []schema.GroupKind) {
		config, err := p.LoadFrom(tree, action.AnyLayout)
		if err != nil {
			return nil // a directory without PROJECT can have CRDs, too
		}
		for _, r := range config.Resources() {
			if config.Owns(r) && r.HasAPI() {
				kinds = append(kinds, schema.GroupKind{Group: r.QualifiedGroup(), Kind: r.Kind})
			}
		}
		return kinds
	})
	for _, name := range names {
		if path.Dir(name) != dir || path.Ext(name) != ".yaml" {
			continue
		}
		// Another directory can contain the same CRD.
		listed := slices.ContainsFunc(all, func(k kustomization) bool {
			return slices.ContainsFunc(k.included, func(included string) bool { return path.Base(included) == path.Base(name) })
		})
		entry := strings.TrimPrefix(name, path.Dir(of.name)+"/")
		if old := generated[name] == nil; old {
			data, err := tree.ReadFile(name)
			if err != nil {
				return err
			}
			if now := renamedTo(identify(data), current()); now != "" {
				if p.Fix {
					if done, err := replaceCRD(p, tree, all, &of, name, now, generated); done || err != nil {
						if err != nil {
							return err
						}
						continue
					}
				}
				fix := "delete it"
				if listed {
					fix += fmt.Sprintf(", and list %s instead of it in %s", strings.TrimPrefix(now, path.Dir(of.name)+"/"), of.name)
				}
				if !p.Fix {
					fix += fmt.Sprintf(", or run %s generate --fix", p.Program)
				}
				p.ReportFindings(diag.Warning, diag.Finding{
					Position: diag.Position{File: name, Line: 1}, Rule: "stale-crd", Fix: fix,
					Problem: "not generated any more: the CRD of its kind is " + now,
				})
			}
			continue
		}
		if listed {
			continue
		}
		crd := current()[name]
		// Of the kinds that PROJECT doesn't name, a group without any listed CRD belongs to another operator, whose types the project contains.
		isOwn := slices.ContainsFunc(of.included, func(included string) bool { return current()[included].group == crd.group }) ||
			slices.Contains(recorded(), schema.GroupKind{Group: crd.group, Kind: crd.kind})
		// A CRD can also be generated in an older version of its API, in a file of its own.
		inOther := slices.ContainsFunc(names, func(other string) bool {
			return other != name && current()[other].kind == crd.kind && current()[other].group == crd.group
		})
		// An entry in a comment is a decision of the author.
		inComment := bytes.Contains(of.content, []byte(entry))
		if !isOwn || inOther || inComment || crd.kind == "" {
			continue
		}
		if p.Fix {
			edited, err := scaffold.Insert(of.content, of.name, map[string]string{"crdkustomizeresource": "- " + entry + "\n"})
			if err == nil {
				of.content = edited
				tree.WriteFile(of.name, edited, 0o644)
				continue
			}
		}
		p.ReportFindings(diag.Warning, diag.Finding{
			Position: diag.Position{File: of.name, Line: of.line}, Rule: "unlisted-crd", Fix: fmt.Sprintf("add - %s to resources, or run %s generate --fix", entry, p.Program),
			Problem: fmt.Sprintf("the CRD in %s is not installed: no kustomization lists it", name),
		})
	}
	return nil
}

// checkWebhooks reports generated webhook configurations that the kustomization of the whole operator does not include.
func checkWebhooks(p *action.Project, tree *worktree.Tree, all []kustomization, generated map[string][]byte) error {
	const manifests = project.WebhookManifests
	whole := slices.IndexFunc(all, func(k kustomization) bool { return path.Dir(k.name) == project.DefaultDir })
	if generated[manifests] == nil || whole < 0 {
		return nil
	}
	dir := path.Dir(manifests)
	for _, k := range all {
		// A directory can also list the file itself, and a makefile can build it on its own.
		if slices.Contains(k.included, dir) || path.Dir(k.name) != dir && slices.Contains(k.included, manifests) {
			return nil
		}
	}
	for _, name := range []string{"Makefile", "makefile", "GNUmakefile", "Tiltfile"} {
		if data, err := tree.ReadFile(name); err == nil && bytes.Contains(data, []byte(dir)) {
			return nil
		}
	}
	if p.Fix {
		if done, err := includeWebhooks(p, tree, generated[manifests]); done || err != nil {
			return err
		}
	}
	finding := diag.Finding{
		Position: diag.Position{File: all[whole].name, Line: all[whole].line}, Rule: "unlisted-webhooks", Fix: "add - ../webhook to resources, with certificates for the webhook server",
		Problem: fmt.Sprintf("the webhooks in %s are not installed: no kustomization includes %s", manifests, dir),
	}
	for i, line := range strings.Split(string(all[whole].content), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "#") && strings.HasSuffix(strings.TrimSpace(line), "- ../webhook") {
			finding.Line, finding.Fix = i+1, "uncomment this line, and the others that webhooks and their certificates need"
		}
	}
	if !p.Fix {
		finding.Fix += fmt.Sprintf(", or run %s generate --fix", p.Program)
	}
	p.ReportFindings(diag.Warning, finding)
	return nil
}

// readKustomizations returns the kustomizations of a project that can be parsed.
func readKustomizations(tree *worktree.Tree) ([]kustomization, error) {
	names, err := tree.Walk(".", isWithoutManifests)
	if err != nil {
		return nil, err
	}
	var all []kustomization
	for _, name := range names {
		if !manifest.IsKustomization(path.Base(name)) {
			continue
		}
		data, err := tree.ReadFile(name)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // a broken link
			}
			return nil, err
		}
		var document yaml.Node
		if safeyaml.Unmarshal(data, &document) != nil || len(document.Content) == 0 {
			continue // kustomize reports it
		}
		k := kustomization{name: name, content: data, line: 1}
		if k.namespace = safeyaml.ChildText(document.Content[0], "namespace"); k.namespace != "" {
			k.namespaceLine = safeyaml.Child(document.Content[0], "namespace").Line
		}
		k.prefix = safeyaml.ChildText(document.Content[0], "namePrefix")
		for key, list := range safeyaml.Fields(document.Content[0]) {
			if list.Kind != yaml.SequenceNode {
				continue
			}
			for _, item := range list.Content {
				if patch := patchPath(key.Value, item); patch != "" {
					k.patches = append(k.patches, path.Join(path.Dir(name), patch))
				}
			}
			if !slices.Contains([]string{"resources", "bases", "components"}, key.Value) {
				continue
			}
			if key.Value == "resources" {
				k.line = key.Line
			}
			for _, item := range list.Content {
				k.included = append(k.included, path.Join(path.Dir(name), item.Value))
			}
		}
		all = append(all, k)
	}
	return all, nil
}

// patchPath returns the path of the patch in an item of a list, or "".
func patchPath(list string, item *yaml.Node) string {
	if list == "patchesStrategicMerge" && item.Kind == yaml.ScalarNode && !strings.Contains(item.Value, "\n") {
		return item.Value
	}
	if list == "patches" || list == "patchesJson6902" {
		return safeyaml.ChildText(item, "path")
	}
	return ""
}

// isWithoutManifests reports whether a directory contains no manifests of the project.
func isWithoutManifests(dir string) bool {
	base := path.Base(dir)
	return base != "." && base[0] == '.' || slices.Contains([]string{"vendor", "testdata", "node_modules"}, base)
}

// A crdIdentity is what stays the same in a CRD when the plural or the group of its kind changes.
type crdIdentity struct {
	name, group, kind string
	isGenerated       bool
	// description is the type's description.
	description string
}

// identify returns the identity of the CRD in a file, or nothing if it does not contain exactly one.
func identify(data []byte) crdIdentity {
	var object struct {
		Metadata struct {
			Name        string
			Annotations map[string]string
		}
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema struct{ Description string }
				}
			}
		}
	}
	if safeyaml.UnmarshalJSON(data, &object) != nil {
		return crdIdentity{}
	}
	identity := crdIdentity{name: object.Metadata.Name, group: object.Spec.Group, kind: object.Spec.Names.Kind}
	_, identity.isGenerated = object.Metadata.Annotations["controller-gen.kubebuilder.io/version"]
	for _, version := range object.Spec.Versions {
		identity.description += version.Schema.OpenAPIV3Schema.Description + "\n"
	}
	return identity
}

// renamedTo returns the file of the CRD that replaces one: of the same kind in the same group, or in another one with the same description.
func renamedTo(old crdIdentity, current map[string]crdIdentity) string {
	if old.kind == "" || !old.isGenerated {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(current)) {
		now := current[name]
		if now.kind == old.kind && (now.group == old.group || now.description == old.description) {
			return name
		}
	}
	return ""
}
