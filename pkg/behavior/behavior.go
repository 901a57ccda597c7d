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
	// RuleRefused is a custom resource that the API server, or a webhook of the operator, refuses.
	RuleRefused = "refused-resource"
	// RuleUnsettled is a step after which the operator doesn't come to rest.
	RuleUnsettled = "unsettled"
	// RuleRepair are objects that the operator doesn't make again.
	RuleRepair = "not-repaired"
	// RuleLeft are objects that are left after their custom resource.
	RuleLeft = "left-behind"
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
}

// A Refusal is a custom resource that couldn't be created, and why.
type Refusal struct {
	Object *kube.Object
	Err    error
}

// An Observation is what an operator did.
type Observation struct {
	// Requests are its requests in the order of their answers, and Writes those of them that the API server has done.
	Requests []gateway.Record
	Writes   []stage.Write
	// Changes are the changes of all objects, by whomever.
	Changes []stage.Change
	Steps   []Step
	// Refused are the custom resources that couldn't be created.
	Refused []Refusal
	// Left are objects that exist in the end and not in the beginning.
	Left []*kube.Object
	// NotRepaired are objects that were deleted by hand and that the operator hasn't made again.
	NotRepaired []*kube.Object
	// Grant returns how to grant a permission, such as a marker.
	Grant func(stage.Denial) string
}

// Findings returns the faults in the order of the rules above, and each rule's in the order of objects.
func (o *Observation) Findings() diag.Findings {
	return slices.Concat(o.forbidden(), o.withoutChange(), o.atRest(), o.changingStatus(), o.fights(), o.uncachedLists(), o.refused(), o.unsettled(), o.notRepaired(), o.leftBehind())
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
		f.Related = append(f.Related, diag.Finding{Problem: fmt.Sprintf("%s %s: %d", r.Start.UTC().Format("15:04:05.000"), r.Request, r.Code)})
	}
	return f
}

// isUpkeep reports whether a request belongs to the upkeep of a process: its lease, its events, reviews of requests.
func isUpkeep(r gateway.Request) bool {
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
