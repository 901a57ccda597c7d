// Package behavior finds faults in what an operator did on a stage: in its requests, in the changes that they made, and in what is left
// in the end.
package behavior

import (
	"fmt"
	"slices"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// The rules, which are the names of pages of documentation.
const (
	// RuleForbidden is a request without a permission.
	RuleForbidden = "forbidden-request"
	// RuleWildcard is a rule of RBAC that permits everything.
	RuleWildcard = "wildcard-permission"
	// RuleUnused is a permission that the operator uses neither in the run nor in a cluster.
	RuleUnused = "unused-permission"
	// RulePanic is a panic in the code of the operator.
	RulePanic = "panic"
	// RuleNoChange are writes that change nothing.
	RuleNoChange = "write-without-change"
	// RuleRest are writes while nothing happens.
	RuleRest = "write-at-rest"
	// RuleTime is a field of a status that changes at each pass, such as a time.
	RuleTime = "changing-status"
	// RuleFight is a field that two writers change back and forth.
	RuleFight = "fight-over-field"
	// RuleList are requests for lists that a cache could answer.
	RuleList = "uncached-list"
	// RuleConflict is a write that was refused with a conflict and not done again.
	RuleConflict = "lost-conflict"
	// RuleEvents are Events again and again.
	RuleEvents = "event-storm"
	// RuleLog is an error in the log of the operator.
	RuleLog = "logged-error"
	// RuleRefused is a custom resource that the API server, or a webhook of the operator, refuses.
	RuleRefused = "refused-resource"
	// RuleUnsettled is a step after which the operator doesn't come to rest.
	RuleUnsettled = "unsettled"
	// RuleDrift is a field that was changed by hand and that the operator doesn't set again.
	RuleDrift = "uncorrected-drift"
	// RuleRepair are objects that the operator doesn't make again.
	RuleRepair = "not-repaired"
	// RuleLeft are objects that are left after their custom resource.
	RuleLeft = "left-behind"
	// RuleAssertion is an operation of a scenario that doesn't lead to what it must.
	RuleAssertion = "failed-assertion"
	// RuleCommand is a command of the user that fails.
	RuleCommand = "failed-workload"
)

// A Step is something that was done to a stage, such as the creation of a custom resource.
type Step struct {
	Name string
	// Start is when it began, and End when the next one did.
	Start, End time.Time
	// Settled is when nothing changed any more; zero if it didn't come to that.
	Settled time.Time
	// Unsettled is why not, or nil.
	Unsettled error
	// ByHand reports whether objects of the operator were changed or deleted in it.
	ByHand bool
	// Namespace is the only one that the step is about, if other steps go on at the same time, or "".
	Namespace string
}

// Concerns reports whether the step is about the objects in a namespace.
func (s *Step) Concerns(namespace string) bool { return s.Namespace == "" || s.Namespace == namespace }

// contains reports whether a time is in the step.
func (s *Step) contains(t time.Time) bool { return !t.Before(s.Start) && t.Before(s.End) }

// isAtRest reports whether nothing had happened any more when the operator sent a request that the step concerns.
func (s *Step) isAtRest(r gateway.Record) bool {
	return s.Concerns(r.Namespace) && !s.Settled.IsZero() && r.Start.After(s.Settled) && r.Start.Before(s.End)
}

// A Refusal is a custom resource that couldn't be created, and why.
type Refusal struct {
	Object *kube.Object
	Err    error
}

// A Leftover is an object that is left, and the scenario after which it is, or "".
type Leftover struct {
	*kube.Object
	Scenario string
}

// An Observation is what an operator did.
type Observation struct {
	// Requests are its requests in the order of their answers, and Writes those of them that the API server has done.
	Requests []gateway.Record
	Writes   []stage.Write
	// Logged are the errors in its log.
	Logged []LoggedError
	// Changes are the changes of all objects, by whomever.
	Changes []stage.Change
	Steps   []Step
	// Refused are the custom resources that couldn't be created.
	Refused []Refusal
	// Left are objects that exist in the end and not in the beginning.
	Left []Leftover
	// NotRepaired are objects that were deleted by hand and that the operator hasn't made again.
	NotRepaired []*kube.Object
	// NotCorrected are changes by hand that the operator hasn't undone.
	NotCorrected []HandChange
	// Failed are the operations of scenarios that failed, and CommandFailure is why the command of the user did, or nil.
	Failed         diag.Findings
	CommandFailure error
	// Grants are the permissions of the operator, with what it used of them, or nil if it is an administrator.
	Grants *stage.Grants
	// IsGenerated reports whether a rule isn't written by the user, but derived from charts or roles. It may be nil.
	IsGenerated func(*stage.Rule) bool
	// Permit returns the marker or the rule of a permission, and Grant how to grant one.
	Permit func(stage.Permission) string
	Grant  func(stage.Denial) string
	// Source returns where the code of the operator makes a request that was denied, if it is known. It may be nil.
	Source func(stage.Denial) diag.Position
	// Place returns where the field of a custom resource is in its file, if it is known. It may be nil.
	Place func(o *kube.Object, field string) diag.Position
}

// Findings returns the faults in the order of the rules above, and each rule's in the order of objects.
func (o *Observation) Findings() diag.Findings {
	return slices.Concat(
		o.forbidden(), o.escalations(), o.wildcards(), o.unused(), o.panics(), o.withoutChange(), o.atRest(), o.changingStatus(), o.fights(), o.uncachedLists(),
		o.lostConflicts(), o.eventStorms(), o.loggedErrors(), o.refused(), o.Failed, o.commandFailed(), o.unsettled(), o.notCorrected(),
		o.notRepaired(), o.leftBehind(),
	)
}

// WroteNothing reports whether the requests of the operator are known, and none of them is a write, apart from its upkeep.
func (o *Observation) WroteNothing() bool {
	return len(o.Requests) > 0 && !slices.ContainsFunc(o.Requests, func(r gateway.Record) bool { return r.IsWrite() && !IsUpkeep(r.Request) })
}

// stepAt returns the step in which a time is, or nil. Of steps that go on at the same time, it is the one that concerns the namespace, or
// else the one that ends last.
func (o *Observation) stepAt(t time.Time, namespace string) (found *Step) {
	for i := range o.Steps {
		step := &o.Steps[i]
		if !step.contains(t) {
			continue
		}
		if step.Concerns(namespace) {
			return step
		}
		if found == nil || step.End.After(found.End) {
			found = step
		}
	}
	return found
}

// maxEvidence is the number of requests that a finding lists.
const maxEvidence = 3

// evidence adds requests to a finding, the first ones of many.
func evidence(f diag.Finding, records ...gateway.Record) diag.Finding {
	for i, r := range records {
		if i == maxEvidence {
			f.Related = append(f.Related, diag.Finding{Problem: fmt.Sprintf("%d more", len(records)-i)})
			break
		}
		f.Related = append(f.Related, diag.Finding{Time: r.Start, Problem: fmt.Sprintf("%s: %d", r.Request, r.Code)})
	}
	return f
}

// IsUpkeep reports whether a request belongs to the upkeep of a process: its lease, its events, reviews of requests.
func IsUpkeep(r gateway.Request) bool {
	switch r.Group {
	case "coordination.k8s.io", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io":
		return true
	}
	return r.Group == "" && r.Resource == "events"
}

// grouped returns records by a key, and the keys in the order of their first record. An empty key leaves a record out.
func grouped[T any](list []T, key func(T) string) (groups map[string][]T, keys []string) {
	groups = map[string][]T{}
	for _, item := range list {
		k := key(item)
		if k == "" {
			continue
		}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], item)
	}
	return groups, keys
}
