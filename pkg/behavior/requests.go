package behavior

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/stage"
)

// Denied returns the permissions that are missing, in the run and in the audit log, and the requests that were denied by Denial.Rule.
func (o *Observation) Denied() ([]stage.Denial, map[string][]gateway.Record) {
	var denials stage.Denials
	requests := map[string][]gateway.Record{}
	all := slices.Clone(o.Requests)
	if o.Grants != nil {
		all = append(all, o.Grants.Denied()...)
	}
	for _, r := range all {
		if d, ok := stage.DenialOf(r); ok {
			denials.Add(d)
			requests[d.Rule()] = append(requests[d.Rule()], r)
		}
	}
	return denials.List(), requests
}

// forbidden finds requests without a permission.
func (o *Observation) forbidden() (findings diag.Findings) {
	denials, requests := o.Denied()
	for _, d := range denials {
		f := diag.Finding{
			Severity: diag.Error, Rule: RuleForbidden, Problem: fmt.Sprintf("the operator has no permission to %s", d), Fix: o.Grant(d),
		}
		if o.Source != nil {
			f.Position = o.Source(d)
		}
		findings = append(findings, evidence(f, requests[d.Rule()]...))
	}
	return findings
}

// escalations finds roles and bindings that the API server refuses since they grant more than the operator itself may do.
func (o *Observation) escalations() (findings diag.Findings) {
	refused, keys := grouped(o.Requests, func(r gateway.Record) string {
		if stage.EscalationOf(r) == nil {
			return ""
		}
		_, message, _ := strings.Cut(r.Message, `"`) // the path of a creation has no name
		name, _, _ := strings.Cut(message, `"`)
		return r.GroupResource() + " " + strings.TrimPrefix(r.Namespace+"/"+name, "/")
	})
	for _, key := range keys {
		var missing, rules []string
		for _, p := range stage.EscalationOf(refused[key][0]) {
			missing, rules = append(missing, p.String()), append(rules, o.Permit(p))
		}
		findings = append(findings, evidence(diag.Finding{
			Severity: diag.Error, Rule: RuleForbidden, Object: key, Problem: "grants what the operator itself may not do: " + strings.Join(missing, "; "),
			Fix: "give the operator what it grants, or the verbs escalate and bind: " + strings.Join(rules, " "),
		}, refused[key]...))
	}
	return findings
}

// releaseSelector selects the records of releases, which Helm reads without a cache.
const releaseSelector = "owner=helm"

// maxLists is how many times an operator may list a resource itself: once when it starts, and perhaps again.
const maxLists = 3

// uncachedLists finds lists that the API server reads from etcd, again and again. An informer lists once and watches, and its lists may be
// as old as the cache of the API server.
func (o *Observation) uncachedLists() (findings diag.Findings) {
	lists, keys := grouped(o.Requests, func(r gateway.Record) string {
		query, err := url.ParseQuery(r.Query)
		switch {
		case r.Verb != "list", r.Resource == "", r.Code != http.StatusOK, err != nil, IsUpkeep(r.Request):
			return ""
		case query.Get("resourceVersion") != "", query.Get("continue") != "", strings.Contains(query.Get("labelSelector"), releaseSelector):
			return ""
		}
		return r.GroupResource()
	})
	for _, key := range keys {
		if len(lists[key]) <= maxLists {
			continue
		}
		findings = append(findings, evidence(diag.Finding{
			Severity: diag.Warning, Rule: RuleList, Object: key,
			Problem: fmt.Sprintf("is listed %d times without a cache", len(lists[key])),
			Fix:     "read with the client of the manager, whose cache is kept up to date by one watch",
		}, lists[key]...))
	}
	return findings
}
