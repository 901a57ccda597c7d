package action

import (
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ansibleRules returns the rules that roles and playbooks require, and notes about them.
func (p *Project) ansibleRules(_ *worktree.Tree, kinds []ansibleKind) ([]rbac.Rule, diag.Findings, error) {
	permissions := rbac.Permissions{}
	for _, kind := range kinds {
		plural := kind.resource.Plural
		permissions.Grant(kind.resource.QualifiedGroup(), []string{plural, plural + "/finalizers", plural + "/status"},
			"create", "delete", "get", "list", "patch", "update", "watch")
	}
	return permissions.Rules(), nil, nil
}

// ansibleVersion returns a version of the CRD of a kind.
func (p *Project) ansibleVersion(_ *worktree.Tree, kind ansibleKind) (crd.Version, diag.Findings, error) {
	return crd.Version{Name: kind.resource.Version, Spec: map[string]any{
		"type": "object", "description": "spec are the variables of the runs.", crd.PreserveUnknown: true,
	}}, nil, nil
}

// sampleOf returns the lines of the spec in the sample of a kind.
func (p *Project) sampleOf(_ *worktree.Tree, _ project.Resource) (string, error) { return "", nil }

// ansibleAPIs describes the kinds of an Ansible project for the base.
func (p *Project) ansibleAPIs(_ *worktree.Tree, config *project.Config) ([]base.Kind, []codegen.API, error) {
	var kinds []base.Kind
	var apis []codegen.API
	for _, r := range config.Resources() {
		api := codegen.API{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind, Plural: r.Plural, Doc: r.Kind + " runs Ansible."}
		kinds, apis = append(kinds, base.KindOf(api)), append(apis, api)
	}
	return kinds, apis, nil
}
