package stage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// Audited reports whether an audit log shows what the operator uses, beside a run.
func (g *Grants) Audited() bool { return g.audited }

// Namespace is the namespace of the operator.
func (g *Grants) Namespace() string { return g.of.Namespace }

// Of returns a rule with what the operator has used of it, whichever rules have permitted that, in any namespace.
func (g *Grants) Of(rule Rule) *Rule {
	rule.namespaces, rule.used = []string{""}, map[access]bool{}
	for r := range g.seen {
		if rule.permits(r) {
			rule.used[accessOf(r)] = true
		}
	}
	return &rule
}

// Under returns the rules that other permissions grant, with the same use. It fails if they forbid what the operator has used.
func (g *Grants) Under(p *Permissions) (*Grants, error) {
	next, err := p.Grants()
	if err != nil {
		return nil, err
	}
	next.audited = g.audited
	next.denied = slices.DeleteFunc(slices.Clone(g.denied), func(r gateway.Record) bool { return next.Permits(r.Request) })
	for _, r := range slices.SortedFunc(maps.Keys(g.seen), func(a, b gateway.Request) int { return strings.Compare(a.String(), b.String()) }) {
		if !next.Permits(r) {
			return nil, fmt.Errorf("the operator has used what would be forbidden: %s", r)
		}
		next.use(r)
	}
	return next, nil
}
