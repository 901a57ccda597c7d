package behavior

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// use records what the operator has used of its permissions.
func (o *Observation) use() {
	for _, r := range o.Requests {
		o.Grants.Use(r)
	}
	for _, w := range o.Writes {
		if w.Change != nil && w.Group == "rbac.authorization.k8s.io" && len(kube.ListAt(w.Change.After.Object, "rules")) > 0 {
			o.Grants.UseRole(w.Change.After)
		}
	}
}

// wildcards finds rules that permit everything.
func (o *Observation) wildcards() (findings diag.Findings) {
	for _, rule := range o.rules() {
		fields := rule.Wildcards()
		if len(fields) == 0 {
			continue
		}
		f := diag.Finding{
			Severity: diag.Warning, Rule: RuleWildcard, Object: rule.Role, Field: fmt.Sprintf("rules[%d]", rule.Index),
			Problem: fmt.Sprintf("the wildcard in %s permits far more than the operator uses", strings.Join(fields, " and ")),
			Fix:     "remove the rule: the operator has used nothing of it",
		}
		used := rule.Used()
		if len(used) > 0 {
			f.Fix = "permit what the operator has used, and what else you know that it needs:"
		}
		for _, p := range used {
			f.Related = append(f.Related, diag.Finding{Problem: o.Permit(p)})
		}
		findings = append(findings, f)
	}
	return findings
}

func (o *Observation) rules() []*stage.Rule {
	if o.Grants == nil {
		return nil
	}
	return o.Grants.Rules()
}

// Unused returns notes about permissions that the operator has never used, one for each resource of a role. What a process needs for its
// upkeep is left out, and finalizers: only some clusters ask for a permission to set owner references. There are no notes if a step didn't
// come to rest, since the operator has then not done its work.
func (o *Observation) Unused() (notes []string) {
	if len(o.unsettled()) > 0 {
		return nil
	}
	for _, rule := range o.rules() {
		for _, p := range rule.Unused() {
			if IsUpkeep(gateway.Request{Group: p.Group, Resource: p.Resource}) || strings.HasSuffix(p.Resource, "/finalizers") {
				continue
			}
			notes = append(notes, fmt.Sprintf("never used in this run: %s (%s)", p, rule.Role))
		}
	}
	return notes
}
