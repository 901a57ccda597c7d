package behavior_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/gateway"
)

// TestLoggedErrors checks which errors in the log are findings: the ones that nothing else explains.
func TestLoggedErrors(t *testing.T) {
	t.Parallel()
	logged := func(second int, cause string) behavior.LoggedError {
		return behavior.LoggedError{Time: at(second), Object: "memcached a/one", Message: "Reconciler error", Cause: cause}
	}
	const gone = `configmaps "one" not found`
	denied := request(2, "list", "secrets", "", 403)
	for name, test := range map[string]struct {
		logged   []behavior.LoggedError
		step     behavior.Step
		requests []gateway.Record
		want     []string
	}{
		"one":       {[]behavior.LoggedError{logged(1, "no disk")}, behavior.Step{}, nil, []string{"memcached a/one: the operator logs an error: Reconciler error: no disk"}},
		"several":   {[]behavior.LoggedError{logged(1, "no disk"), logged(2, "no tape")}, behavior.Step{}, nil, []string{"memcached a/one: the operator logs 2 errors, the first: Reconciler error: no disk"}},
		"no object": {[]behavior.LoggedError{{Time: at(1), Message: "timed out"}, {Time: at(1), Message: "too\x1blate"}}, behavior.Step{}, nil, []string{": the operator logs an error: timed out", `: the operator logs an error: too\x1blate`}},
		"conflict": {[]behavior.LoggedError{
			logged(1, `Operation cannot be fulfilled on configmaps "one": the object has been modified; please apply your changes to the latest version and try again`),
			logged(1, `Apply failed with 1 conflict: conflict with "x": .spec.replicas`),
		}, behavior.Step{}, nil, nil},
		"logged and returned": {
			[]behavior.LoggedError{{Time: at(1), Object: "memcached a/one", Message: "no luck", Cause: "no disk"}, logged(1, "preparing: no disk"), logged(2, "no disk")},
			behavior.Step{}, nil,
			[]string{"memcached a/one: the operator logs an error: no luck: no disk", "memcached a/one: the operator logs an error: Reconciler error: no disk"},
		},
		"pod": {[]behavior.LoggedError{
			logged(1, `Get "http://shop.a.svc:3000/api": dial tcp: lookup shop.a.svc: no such host`),
		}, behavior.Step{}, nil, nil},
		"gone":                 {[]behavior.LoggedError{logged(1, gone)}, behavior.Step{}, nil, []string{"memcached a/one: the operator logs an error: Reconciler error: " + gone}},
		"deleted by hand":      {[]behavior.LoggedError{logged(1, gone)}, behavior.Step{ByHand: true}, nil, nil},
		"another error then":   {[]behavior.LoggedError{logged(1, "no disk")}, behavior.Step{ByHand: true}, nil, []string{"memcached a/one: the operator logs an error: Reconciler error: no disk"}},
		"namespace is deleted": {[]behavior.LoggedError{logged(1, `unable to create new content in namespace a because it is being terminated`)}, behavior.Step{}, nil, nil},
		"denied":               {[]behavior.LoggedError{logged(1, "no secrets")}, behavior.Step{}, []gateway.Record{denied}, nil},
		"after the last step":  {[]behavior.LoggedError{logged(11, "context canceled")}, behavior.Step{}, nil, nil},
		"panic":                {[]behavior.LoggedError{logged(1, "panic: nil map [recovered]")}, behavior.Step{}, nil, []string{": the operator panics: nil map"}},
		"unsettled": {
			[]behavior.LoggedError{logged(1, "no disk"), logged(2, "no tape")}, behavior.Step{Unsettled: errors.New("not settled within 1s")}, nil,
			[]string{"create: not settled within 1s, Reconciler error: no disk"},
		},
	} {
		test.step.Name, test.step.Start, test.step.End = "create", at(0), at(10)
		o := behavior.Observation{Logged: test.logged, Steps: []behavior.Step{test.step}, Requests: test.requests}
		var got []string
		for _, f := range o.Findings() {
			text := fmt.Sprintf("%s: %s", f.Object, f.Problem)
			if f.Rule == behavior.RuleUnsettled {
				for _, related := range f.Related {
					text += ", " + related.Problem
				}
			}
			got = append(got, text)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, test.want)
		}
	}
}
