package ansiblekinds

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/ansiblerole"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// generateAnsible updates the CRDs of the kinds of an Ansible project and the role of its manager.
func generateAnsible(p *action.Project, tree *worktree.Tree, config *project.Config) error {
	kinds, unwatched, err := readAnsibleKinds(tree, config)
	if err != nil {
		return err
	}
	p.ReportFindings(diag.Note, unwatched...)
	files, err := roleFiles(tree)
	if err != nil {
		return err
	}
	notes, err := writeAnsibleCRDs(tree, files, kinds)
	if err != nil {
		return err
	}
	if err := updateSamples(p, tree, config, files, kinds); err != nil {
		return err
	}
	rules, others := ansibleRules(files, kinds)
	if tree.CheckConflicts() == nil { // notes about a role with conflicts would follow from these
		p.ReportFindings(diag.Note, append(notes, others...)...)
	}
	role, err := tree.ReadOptional(project.RoleFile)
	if err != nil {
		return err
	}
	if role == nil {
		p.ReportFindings(diag.Note, diag.Finding{Position: diag.Position{File: project.RoleFile}, Problem: "not found; the permissions of the manager are not compared with the roles and playbooks"})
		return nil
	}
	rules, dropped := rbac.ForRole(project.RoleFile, role, rules, "the roles and playbooks")
	p.ReportFindings(diag.Note, dropped...)
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

// readAnsibleKinds returns the kinds of watches.yaml, and notes about kinds of PROJECT without an entry, whose manifests stay as they are.
func readAnsibleKinds(tree *worktree.Tree, config *project.Config) (kinds []ansibleKind, notes diag.Findings, err error) {
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
		kind.resource, kind.own = runtimekinds.ResourceOf(config, w.GroupVersionKind())
		kinds = append(kinds, kind)
	}
	return kinds, notes, nil
}

// crdMarker marks a CRD whose schema was derived from roles and is derived again by the next command.
const crdMarker = "# +operon:generated"

// crdNote is the line with crdMarker.
const crdNote = crdMarker + ": the schema of spec follows from meta/argument_specs.yml of the role. To edit it by hand, remove this line.\n"

// An ansibleCRD is the CRD of a kind of an Ansible project.
type ansibleCRD struct {
	crd.Definition
	// derived reports whether a role has argument specifications.
	derived bool
}

// writeAnsibleCRDs writes the CRDs of the project's kinds, with all versions of a kind in one. The version of the last entry is stored.
// Without argument specifications, the schema accepts any spec, and is the user's. Other parts of a CRD than the schemas are kept.
func writeAnsibleCRDs(tree *worktree.Tree, files ansiblerole.Files, kinds []ansibleKind) (diag.Findings, error) {
	if !tree.Exists(project.CRDDir) {
		return nil, nil // the manifests of the project are in another place
	}
	definitions := map[string]*ansibleCRD{}
	var names []string
	var notes diag.Findings
	for _, kind := range kinds {
		if !kind.own {
			continue
		}
		name, _ := action.CRDFile(tree, kind.resource)
		current, err := tree.ReadOptional(name)
		if err != nil {
			return nil, err
		}
		if current != nil && !bytes.Contains(current, []byte(crdMarker)) && !hasScaffoldedSchema(current, kind.resource) {
			if !definesVersion(current, kind.resource.Version) {
				notes.Addf(diag.Position{File: name}, "has no version %s, and is not derived from the roles; add the version, or remove the file to derive it",
					kind.resource.Version)
			}
			if kind.watch.TargetNamespace.IsSet() {
				notes = append(notes, runtimekinds.CheckScope(name, current)...)
			}
			continue
		}
		if definitions[name] == nil {
			definitions[name] = &ansibleCRD{Definition: newAnsibleCRD(kind.resource)}
			names = append(names, name)
		}
		definitions[name].ClusterScoped = definitions[name].ClusterScoped || kind.watch.TargetNamespace.IsSet()
		version, derived, others, err := ansibleVersion(files, kind)
		if err != nil {
			return nil, err
		}
		notes = append(notes, others...)
		definitions[name].Versions = append(definitions[name].Versions, version)
		definitions[name].derived = definitions[name].derived || derived
	}
	for _, name := range names {
		if err := definitions[name].write(tree, name); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// write writes the CRD, with the edits of the user.
func (d *ansibleCRD) write(tree *worktree.Tree, name string) error {
	current, err := tree.ReadOptional(name)
	if err != nil {
		return err
	}
	marked := bytes.Contains(current, []byte(crdMarker))
	current = withoutCRDNote(current)
	fields, findings := decodeCRD(name, current)
	if findings != nil {
		return findings.Err()
	}
	text, err := d.Update(fields)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if marked == d.derived && isEncoded(fields, text) {
		return nil // in whatever format
	}
	if err := tree.Blocked(name); err != nil {
		return err
	}
	separator, rest, _ := bytes.Cut(text, []byte("\n"))
	note := ""
	if d.derived {
		note = crdNote
	}
	tree.WriteFile(name, slices.Concat(separator, []byte("\n"+note), manifest.KeepComments(current, rest)), worktree.FileMode)
	return nil
}

// withoutCRDNote returns the text of a CRD without the line with crdMarker.
func withoutCRDNote(text []byte) []byte {
	var rest []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte(crdMarker)) {
			rest = append(rest, line...)
		}
	}
	return rest
}

// decodeCRD returns the fields of a CRD, or nil for an empty text.
func decodeCRD(name string, text []byte) (map[string]any, diag.Findings) {
	objects, findings := manifest.Decode(name, text)
	if len(findings) > 0 || len(objects) == 0 {
		return nil, findings
	}
	if len(objects) > 1 {
		findings.Addf(diag.Position{File: name}, "must contain one object")
		return nil, findings
	}
	return objects[0].Fields, nil
}

// hasScaffoldedSchema reports whether a CRD has the schemas that create api writes for roles without argument specifications.
func hasScaffoldedSchema(text []byte, r project.Resource) bool {
	fields, _ := decodeCRD("", text)
	updated, err := openAnsibleCRD(fields, r).Update(fields)
	return err == nil && isEncoded(fields, updated)
}

// isEditedCRD reports whether a CRD differs from what generate writes, other than in a derived schema.
func isEditedCRD(text []byte, r project.Resource) bool {
	fields, _ := decodeCRD("", withoutCRDNote(text))
	scaffolded := openAnsibleCRD(fields, r)
	want, err := scaffolded.Marshal()
	if err != nil {
		return true // not a CRD
	}
	if bytes.Contains(text, []byte(crdMarker)) {
		updated, err := scaffolded.Update(fields)
		return err != nil || !bytes.Equal(updated, want)
	}
	return !isEncoded(fields, want)
}

// isEncoded reports whether the text of a CRD, without comments, has these fields.
func isEncoded(fields map[string]any, text []byte) bool {
	encoded, err := manifest.Encode(fields)
	return err == nil && bytes.Equal(text, append([]byte("---\n"), encoded...))
}

// openAnsibleCRD returns the CRD of a kind with the versions in the fields of another one, and schemas that accept any spec.
func openAnsibleCRD(fields map[string]any, r project.Resource) crd.Definition {
	definition := newAnsibleCRD(r)
	spec, _ := fields["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, version := range versions {
		fields, _ := version.(map[string]any)
		definition.Versions = append(definition.Versions, crd.Version{
			Name: manifest.TextAt(fields, "name"), Spec: openSpec(), Outputs: crd.OutputsOf(fields),
		})
	}
	return definition
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
func newAnsibleCRD(r project.Resource) crd.Definition {
	counter := func(name, description string) map[string]any {
		return map[string]any{"type": "integer", "description": name + " is the number of tasks " + description + "."}
	}
	return crd.Definition{
		Group: r.QualifiedGroup(), Kind: r.Kind, Plural: r.Plural,
		Columns: []any{crd.Column("Ready", "Ready", "status", 0), crd.Column("Reason", "Ready", "reason", 1), crd.AgeColumn()},
		Status: crd.Status("object", "Running, Successful, Failure or Ready", map[string]any{
			"ansibleResult": map[string]any{
				"type": "object", "description": "ansibleResult is the summary of the last run.", crd.PreserveUnknown: true, "nullable": true,
				"properties": map[string]any{
					"ok": counter("ok", "without an error"), "changed": counter("changed", "that changed something"),
					"skipped": counter("skipped", "that were skipped"), "failures": counter("failures", "that failed"),
					"completion": crd.Text("completion is the time when the run ended."),
				},
			},
		}, nil),
	}
}

// Generate implements Kinds. The other generators need code.
func (Kinds) Generate(_ context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, what codegen.Generators) error {
	if what&(codegen.CRD|codegen.RBAC) == 0 {
		return nil
	}
	return generateAnsible(p, tree, config)
}
