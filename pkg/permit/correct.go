package permit

import (
	"slices"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// PlanFor returns how to correct the permissions of an operator after a run. Only what is missing is added at first: the operator has then
// not shown what else it uses. If it came to rest after each step, and nothing is missing, rules are narrowed. ended reports whether the run
// came to its end.
func PlanFor(o *behavior.Observation, ended bool) Plan {
	denials, _ := o.Denied()
	plan := Plan{Missing: denials, Source: o.Source}
	if ended && len(denials) == 0 && o.IsSettled() {
		plan.Narrow = func(rule rbac.Rule) ([]rbac.Rule, bool) { return narrowed(o.Grants, rule) }
	}
	return plan
}

// Correct applies a plan to a project, and returns the changes and the findings that remain. regenerate updates the role in the tree and
// returns the permissions of the operator. What the changes don't permit then is left out of the plan, such as what is missing in a
// role that no marker is for.
func (p Plan) Correct(o *behavior.Observation, tree *worktree.Tree, regenerate func() (*stage.Permissions, error)) ([]Change, diag.Findings, error) {
	_, requests := o.Denied()
	for {
		changes, err := p.Apply(tree)
		if err != nil || len(changes) == 0 {
			return nil, o.Findings(), err
		}
		permissions, err := regenerate()
		if err != nil {
			return nil, nil, err
		}
		grants, err := o.Grants.Under(permissions)
		if err != nil {
			return nil, nil, err
		}
		granted := slices.DeleteFunc(slices.Clone(p.Missing), func(d stage.Denial) bool {
			return slices.ContainsFunc(requests[d.Rule()], func(r gateway.Record) bool { return !grants.Permits(r.Request) })
		})
		if len(granted) == len(p.Missing) {
			return changes, o.FindingsUnder(grants), nil
		}
		tree.Reset()
		p.Missing = granted
	}
}

// Generated returns what reports whether a rule is in the generated block of role.yaml: Plan doesn't edit it.
func Generated(tree *worktree.Tree) func(*stage.Rule) bool {
	text, err := tree.ReadOptional(project.RoleFile)
	if err != nil || text == nil {
		return nil
	}
	rules, err := rbac.GeneratedRules(project.RoleFile, text)
	if err != nil { // the role has been generated a moment ago
		return nil
	}
	return func(r *stage.Rule) bool {
		return slices.ContainsFunc(rules, rbac.Rule{
			APIGroups: r.APIGroups, NonResourceURLs: r.NonResourceURLs, ResourceNames: r.ResourceNames, Resources: r.Resources, Verbs: r.Verbs,
		}.Equal)
	}
}
