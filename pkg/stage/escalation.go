package stage

import (
	"net/http"
	"strings"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// escalating begins the rules in the message of an API server that refuses a role or a binding.
const escalating = "is attempting to grant RBAC permissions not currently held:"

// compactRule matches a rule as the API server writes it, and quotedName one of its names.
var (
	compactRule = lazyregexp.New(`\{(?:APIGroups:\[([^\]]*)\], )?(?:Resources:\[([^\]]*)\], |NonResourceURLs:\[([^\]]*)\], )(?:ResourceNames:\[[^\]]*\], )?Verbs:\[([^\]]*)\]\}`)
	quotedName  = lazyregexp.New(`"([^"]*)"`)
)

// EscalationOf returns the permissions that a role or a binding, which the API server refused, would have granted to others although the
// operator doesn't have them.
func EscalationOf(r gateway.Record) (missing []Permission) {
	_, rules, found := strings.Cut(r.Message, escalating)
	if r.ServerCode != http.StatusForbidden || !found {
		return nil
	}
	for _, m := range compactRule.FindAllStringSubmatch(rules, -1) {
		verbs := names(m[4])
		for _, group := range names(m[1]) {
			for _, resource := range names(m[2]) {
				missing = append(missing, Permission{Verbs: verbs, Group: group, Resource: resource})
			}
		}
		for _, path := range names(m[3]) {
			missing = append(missing, Permission{Verbs: verbs, Path: path})
		}
	}
	return missing
}

// names returns the names in a list such as "a" "b".
func names(list string) (names []string) {
	for _, m := range quotedName.FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	return names
}
