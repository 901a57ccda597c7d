package ansiblekinds

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/ansiblerole"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// roleFiles returns the files of a project that roles and playbooks consist of. Those that are too large to be analyzed have no content.
// Virtual environments of Python are not part of the project.
func roleFiles(tree *worktree.Tree) (ansiblerole.Files, error) {
	names, err := tree.Walk(".", func(dir string) bool {
		base := path.Base(dir)
		return dir != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || slices.Contains([]string{"bin", "bundle", "molecule"}, dir) ||
			tree.Exists(path.Join(dir, "pyvenv.cfg")))
	})
	if err != nil {
		return nil, err
	}
	files := ansiblerole.Files{}
	for i := 0; i < len(names); i++ {
		name := names[i]
		if !ansiblerole.Relevant(name) {
			continue
		}
		if tree.Size(name) > ansiblerole.MaxFileSize {
			files[name] = nil
			continue
		}
		content, err := tree.ReadFile(name)
		if errors.Is(err, syscall.EISDIR) { // a link to a directory
			linked, err := linkedFiles(tree, name)
			if err != nil {
				return nil, err
			}
			names = append(names, linked...)
			continue
		}
		isRun := strings.HasPrefix(name, project.RolesDir+"/") || strings.HasPrefix(name, project.PlaybooksDir+"/")
		if errors.Is(err, fs.ErrNotExist) && !isRun {
			continue // a link to a file that does not exist on this machine
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
		}
		files[name] = content
	}
	return files, nil
}

// linkedFiles returns the files in a directory of the project by their names below a link to it, without those below other links.
func linkedFiles(tree *worktree.Tree, link string) ([]string, error) {
	dir, ok := tree.LinkedDir(link)
	if !ok || strings.HasPrefix(link, dir+"/") {
		return nil, nil
	}
	files, err := tree.Walk(dir, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		if _, isLink := tree.LinkedDir(file); !isLink {
			names = append(names, link+strings.TrimPrefix(file, dir))
		}
	}
	return names, nil
}

// ansibleRules returns the rules that roles and playbooks require, and notes about them.
func ansibleRules(files ansiblerole.Files, kinds []ansibleKind) ([]rbac.Rule, diag.Findings) {
	apis := make([]ansiblerole.API, len(kinds))
	for i, kind := range kinds {
		apis[i] = ansiblerole.API{
			Group: kind.resource.QualifiedGroup(), Version: kind.resource.Version, Kind: kind.resource.Kind, Plural: kind.resource.Plural,
			Watch: ansiblerole.NewWatch(kind.watch),
		}
	}
	return ansiblerole.Rules(files, apis)
}

// ansibleVersion returns a version of the CRD of a kind: the schema of spec describes the arguments of its role, or is open. derived reports
// whether the role has argument specifications.
func ansibleVersion(files ansiblerole.Files, kind ansibleKind) (version crd.Version, derived bool, notes diag.Findings, err error) {
	var outputs []crd.Output
	for _, o := range kind.watch.Outputs {
		outputs = append(outputs, crd.Output{Name: o.Name, Type: o.Type, Description: o.Description})
	}
	version = crd.Version{Name: kind.resource.Version, Spec: openSpec(), Outputs: crd.Outputs(outputs)}
	schema, err := ansiblerole.Schema(files, ansiblerole.NewWatch(kind.watch))
	if err != nil || schema == nil {
		return version, false, nil, err
	}
	version.Spec, version.SpecRequired = schema.OpenAPI, schema.Required
	return version, true, schema.Notes, nil
}

// openSpec returns the schema of spec for roles without argument specifications.
func openSpec() map[string]any {
	return map[string]any{"type": "object", "description": "spec holds the variables passed to the role or playbook.", crd.PreserveUnknown: true}
}

// setSample sets the values in the sample of a kind, if its role has argument specifications.
func setSample(tree *worktree.Tree, r project.Resource, data *scaffold.Data) error {
	list, err := readAnsibleWatches(tree)
	if err != nil {
		return err
	}
	entry := findAnsibleWatch(list, r)
	if entry == nil {
		return nil
	}
	files, err := roleFiles(tree)
	if err != nil {
		return err
	}
	return sampleOf(files, *entry, data)
}

// updateSamples writes the values into samples that are as create api wrote them for a role without argument specifications.
func updateSamples(p *action.Project, tree *worktree.Tree, config *project.Config, files ansiblerole.Files, kinds []ansibleKind) error {
	for _, kind := range kinds {
		name := scaffold.SampleFile(kind.resource)
		if !kind.own || !tree.Exists(name) {
			continue
		}
		data := p.PlainData(config, kind.resource, "")
		before, err := scaffold.APIFiles(tree, data)
		if err != nil {
			return err
		}
		if same, err := isOneOf(tree, name, [][]byte{before[name]}); err != nil {
			return err
		} else if !same {
			continue // the user has edited it
		}
		if err := sampleOf(files, kind.watch, &data); err != nil {
			return err
		}
		after, err := scaffold.APIFiles(tree, data)
		if err != nil {
			return err
		}
		tree.WriteFile(name, after[name], worktree.FileMode)
	}
	return nil
}

// sampleOf sets the values in the sample of a kind.
func sampleOf(files ansiblerole.Files, watch watches.AnsibleWatch, data *scaffold.Data) error {
	schema, err := ansiblerole.Schema(files, ansiblerole.NewWatch(watch))
	if err != nil || schema == nil {
		return err
	}
	var lines strings.Builder
	for line := range strings.Lines(strings.TrimRight(string(schema.Sample), "\n")) {
		if strings.TrimSpace(line) != "" {
			line = "  " + line
		}
		lines.WriteString(line)
	}
	data.Resource.Sample, data.Resource.SampleEmpty = lines.String(), schema.SampleEmpty
	return nil
}

// Describe implements Kinds. The descriptions come from the roles.
func (Kinds) Describe(_ context.Context, _ *action.Project, tree *worktree.Tree, config *project.Config, _ string) ([]base.Kind, []codegen.API, error) {
	if !tree.Exists(watches.FileName) {
		return nil, nil, nil
	}
	list, err := readAnsibleWatches(tree)
	if err != nil {
		return nil, nil, err
	}
	files, err := roleFiles(tree)
	if err != nil {
		return nil, nil, err
	}
	var kinds []base.Kind
	var apis []codegen.API
	for _, r := range config.Resources() {
		entry := findAnsibleWatch(list, r)
		if entry == nil || !r.HasAPI() {
			continue
		}
		roles, playbook := runsOf(tree, r, entry)
		doc := r.Kind + " runs Ansible."
		switch {
		case len(roles) > 0:
			doc = describeRole(tree, r.Kind, roles[0])
		case entry.Playbook != "" && playbook != "":
			doc = fmt.Sprintf("%s runs the Ansible playbook %s.", r.Kind, playbook)
		case entry.Playbook == "" && entry.Role != "":
			doc = fmt.Sprintf("%s runs the Ansible role %s.", r.Kind, entry.Role)
		}
		api := codegen.API{
			Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind, Plural: r.Plural, Doc: doc,
			Markers: []codegen.KindMarker{{Resources: createdByRuns(files, ansibleKind{resource: r, watch: *entry})}},
		}
		kinds, apis = append(kinds, base.KindOf(api)), append(apis, api)
	}
	return kinds, apis, nil
}

// createdByRuns returns the kinds and versions of Kubernetes that the role or playbook of a kind may create, sorted, as the values of a
// marker have them.
func createdByRuns(files ansiblerole.Files, kind ansibleKind) [][]string {
	var created [][]string
	rules, _ := ansibleRules(files, []ansibleKind{kind})
	for _, rule := range rules {
		if !slices.Contains(rule.Verbs, "create") {
			continue
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				if name, version, ok := project.FindCoreKind(group, resource); ok && name != "Event" { // the runtime creates events
					created = append(created, []string{name, version})
				}
			}
		}
	}
	slices.SortFunc(created, slices.Compare)
	return slices.CompactFunc(created, slices.Equal)
}

// describeRole describes a kind with a role, by the description in its metadata.
func describeRole(tree *worktree.Tree, kind, dir string) string {
	text := fmt.Sprintf("%s runs the Ansible role %s", kind, path.Base(dir))
	content, err := tree.ReadFile(path.Join(dir, "meta/main.yml"))
	if err != nil {
		return text + "."
	}
	var meta struct {
		Info struct {
			Description string `yaml:"description"`
		} `yaml:"galaxy_info"`
	}
	if err := safeyaml.Unmarshal(content, &meta); err != nil {
		return text + "." // generate reports it
	}
	if description := strings.TrimRight(strings.Join(strings.Fields(meta.Info.Description), " "), "."); description != "" {
		text += ": " + description
	}
	return text + "."
}
