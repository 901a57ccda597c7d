package behavior

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

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
	var objects []*kube.Object
	for _, c := range o.Changes {
		objects = append(objects, c.After)
	}
	custom := customKinds(objects)
	for _, w := range o.Writes {
		if w.Change == nil {
			continue
		}
		if w.Group == "rbac.authorization.k8s.io" && len(kube.ListAt(w.Change.After.Object, "rules")) > 0 {
			o.Grants.UseRole(w.Change.After)
		}
		o.Grants.UseOwners(w.Change.After, custom)
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

// customKinds returns the resources of the kinds that objects define.
func customKinds(objects []*kube.Object) map[schema.GroupKind]kube.Resource {
	custom := map[schema.GroupKind]kube.Resource{}
	for _, o := range objects {
		if o.GetKind() == kube.CRDKind {
			resource := kube.DefinedBy(o)
			custom[schema.GroupKind{Group: resource.Group(), Kind: resource.Kind}] = resource
		}
	}
	return custom
}

func (o *Observation) rules() []*stage.Rule {
	if o.Grants == nil {
		return nil
	}
	return o.Grants.Rules()
}

// Unused returns notes about permissions that the operator has never used, one for each resource of a role, without those that are findings.
func (o *Observation) Unused() (notes []string) {
	for _, u := range o.neverUsed() {
		if !o.isSpare(u.rule) {
			notes = append(notes, fmt.Sprintf("never used in this run: %s (%s)", u.Permission, u.rule.Role))
		}
	}
	return notes
}

// isSpare reports whether permissions of a rule that were never used are faults: an audit log shows what the operator does in a cluster, and
// the user can change the rule.
func (o *Observation) isSpare(rule *stage.Rule) bool {
	return o.Grants.Audited() && (o.IsGenerated == nil || !o.IsGenerated(rule))
}

// unused finds permissions that the operator has never used, if an audit log shows what it does in a cluster.
func (o *Observation) unused() (findings diag.Findings) {
	for _, u := range o.neverUsed() {
		if !o.isSpare(u.rule) {
			continue
		}
		findings = append(findings, diag.Finding{
			Severity: diag.Warning, Rule: RuleUnused, Object: u.rule.Role, Field: fmt.Sprintf("rules[%d]", u.rule.Index),
			Problem: fmt.Sprintf("the operator uses %s neither here nor in the audit log", u.Permission),
			Fix:     "remove the verbs that it doesn't need",
		})
	}
	return findings
}

// An unusedPermission is a part of a rule.
type unusedPermission struct {
	stage.Permission
	rule *stage.Rule
}

// neverUsed returns what the operator hasn't used of its rules. There is nothing if a step didn't come to rest, since the operator has then
// not done its work.
func (o *Observation) neverUsed() (list []unusedPermission) {
	if !o.IsSettled() {
		return nil
	}
	for _, rule := range o.rules() {
		for _, p := range SparePermissions(rule) {
			list = append(list, unusedPermission{p, rule})
		}
	}
	return list
}

// SparePermissions returns what the operator hasn't used of a rule. What a process needs for its upkeep is left out, and finalizers: only
// some clusters ask for a permission to set owner references.
func SparePermissions(rule *stage.Rule) []stage.Permission {
	return slices.DeleteFunc(rule.Unused(), func(p stage.Permission) bool {
		return IsUpkeep(gateway.Request{Group: p.Group, Resource: p.Resource}) || strings.HasSuffix(p.Resource, "/finalizers")
	})
}

// IsAboutPermissions reports whether a finding is one that other permissions of the operator correct.
func IsAboutPermissions(f diag.Finding) bool {
	return slices.Contains([]string{RuleForbidden, RuleWildcard, RuleUnused}, f.Rule)
}

// IsSettled reports whether the operator came to rest after each step.
func (o *Observation) IsSettled() bool { return len(o.unsettled()) == 0 }

// FindingsUnder returns the findings that remain with other permissions, which are to permit what the operator has used. What isn't about
// permissions remains: whether it followed from them is seen in another run.
func (o *Observation) FindingsUnder(g *stage.Grants) diag.Findings {
	next := *o
	next.Grants = g
	next.Requests = slices.DeleteFunc(slices.Clone(o.Requests), func(r gateway.Record) bool {
		_, denied := stage.DenialOf(r)
		return denied && g.Permits(r.Request)
	})
	return append(slices.Concat(next.forbidden(), next.escalations(), next.wildcards(), next.unused()), slices.DeleteFunc(o.Findings(), IsAboutPermissions)...)
}
