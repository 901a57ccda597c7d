package action

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/ansiblerole"
	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// generateAnsible updates the CRDs of the kinds of an Ansible project and the role of its manager.
func (p *Project) generateAnsible(tree *worktree.Tree, config *project.Config) error {
	kinds, unwatched, err := ansibleKinds(tree, config)
	if err != nil {
		return err
	}
	p.report(Note, unwatched...)
	files, err := roleFiles(tree)
	if err != nil {
		return err
	}
	notes, err := writeAnsibleCRDs(tree, files, kinds)
	if err != nil {
		return err
	}
	if err := p.updateSamples(tree, config, files, kinds); err != nil {
		return err
	}
	rules, others := ansibleRules(files, kinds)
	if tree.CheckConflicts() == nil { // notes about a role with conflicts would follow from these
		p.report(Note, append(notes, others...)...)
	}
	role, err := tree.ReadOptional(project.RoleFile)
	if err != nil {
		return err
	}
	if role == nil {
		p.report(Note, diag.Finding{Position: diag.Position{File: project.RoleFile}, Problem: "not found; the permissions of the manager are not compared with the roles and playbooks"})
		return nil
	}
	updated, err := rbac.UpdateRole(project.RoleFile, role, rules, "the roles and playbooks")
	if err != nil {
		return err
	}
	tree.WriteFile(project.RoleFile, updated, worktree.FileMode)
	return nil
}

// An ansibleKind is a kind of watches.yaml.
type ansibleKind struct {
	resource project.Resource
	watch    watches.AnsibleWatch
	// own reports whether the kind belongs to the project, which has its CRD.
	own bool
}

// ansibleKinds returns the kinds of watches.yaml, and notes about kinds of PROJECT without an entry, whose manifests stay as they are.
func ansibleKinds(tree *worktree.Tree, config *project.Config) (kinds []ansibleKind, notes diag.Findings, err error) {
	list, err := readAnsibleWatches(tree)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range config.Resources() {
		if r.HasAPI() && findAnsibleWatch(list, r) == nil {
			notes.Addf(diag.Position{File: watches.FileName}, "no entry for %s, which the operator ignores; add one with its role or playbook, or delete the API", r.GVK)
		}
	}
	for _, w := range list {
		kind := ansibleKind{watch: w}
		kind.resource, kind.own = resourceOf(config, w.GroupVersionKind())
		kinds = append(kinds, kind)
	}
	return kinds, notes, nil
}

// crdMarker is in the line of a CRD that was derived from roles, and is derived again.
const crdMarker = "# +operon:generated"

// crdNote is the line with crdMarker.
const crdNote = crdMarker + ": the schema of spec follows from meta/argument_specs.yml of the role. To edit it by hand, remove this line.\n"

// writeAnsibleCRDs writes the CRDs of the project's kinds, with all versions of a kind in one. The version of the last entry is stored.
// CRDs without the marker have the schema of another tool or of the user, and are kept.
func writeAnsibleCRDs(tree *worktree.Tree, files ansiblerole.Files, kinds []ansibleKind) (diag.Findings, error) {
	if !tree.Exists(project.CRDDir) {
		return nil, nil // the manifests of the project are in another place
	}
	definitions := map[string]*crd.Definition{}
	var names []string
	var notes diag.Findings
	for _, kind := range kinds {
		if !kind.own {
			continue
		}
		name, _ := crdFile(tree, kind.resource)
		current, err := tree.ReadOptional(name)
		if err != nil {
			return nil, err
		}
		if current != nil && !bytes.Contains(current, []byte(crdMarker)) {
			if !definesVersion(current, kind.resource.Version) {
				notes.Addf(diag.Position{File: name}, "has no version %s, and is not derived from the roles; add the version, or remove the file to derive it",
					kind.resource.Version)
			}
			continue
		}
		if definitions[name] == nil {
			definitions[name] = newAnsibleCRD(kind.resource)
			names = append(names, name)
		}
		version, others, err := ansibleVersion(files, kind)
		if err != nil {
			return nil, err
		}
		notes = append(notes, others...)
		definitions[name].Versions = append(definitions[name].Versions, version)
	}
	for _, name := range names {
		content, err := definitions[name].Marshal()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := tree.Blocked(name); err != nil {
			return nil, err
		}
		separator, rest, _ := strings.Cut(string(content), "\n")
		tree.WriteFile(name, []byte(separator+"\n"+crdNote+rest), worktree.FileMode)
	}
	return notes, nil
}

// definesVersion reports whether the text of a CRD has a version.
func definesVersion(text []byte, version string) bool {
	objects, findings := manifest.Decode("", text)
	return len(findings) > 0 || slices.ContainsFunc(objects, func(o manifest.Object) bool { // kustomize reports the findings
		spec, _ := o.Fields["spec"].(map[string]any)
		versions, _ := spec["versions"].([]any)
		return slices.ContainsFunc(versions, func(v any) bool {
			fields, _ := v.(map[string]any)
			return fields["name"] == version
		})
	})
}

// newAnsibleCRD returns the CRD of a kind without versions.
func newAnsibleCRD(r project.Resource) *crd.Definition {
	counter := func(name, description string) map[string]any {
		return map[string]any{"type": "integer", "description": name + " is the number of tasks " + description + "."}
	}
	return &crd.Definition{
		Group: r.QualifiedGroup(), Kind: r.Kind, Plural: r.Plural,
		Columns: []any{crd.Column("Ready", "Ready", "status", 0), crd.Column("Reason", "Ready", "reason", 1), crd.AgeColumn()},
		Status: crd.Status("object", "Running, Successful, Failure or Ready", map[string]any{
			"ansibleResult": map[string]any{
				"type": "object", "description": "ansibleResult is the summary of the last run.", crd.PreserveUnknown: true, "nullable": true,
				"properties": map[string]any{
					"ok": counter("ok", "without an error"), "changed": counter("changed", "that changed something"),
					"skipped": counter("skipped", "that were skipped"), "failures": counter("failures", "that failed"),
					"completion": crd.Text("completion is the time of the end of the run."),
				},
			},
		}, nil),
	}
}
