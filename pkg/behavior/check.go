package behavior

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/scenario"
)

// checkPause is the pause between two looks at an object.
const checkPause = 100 * time.Millisecond

// await checks objects one after the other until each is as it must be. It returns the last finding about the first that isn't in time.
func (c *scene) await(ctx context.Context, limit time.Duration, objects []scenario.Object, check func(scenario.Object) (*diag.Finding, error)) (*diag.Finding, error) {
	deadline := c.o.Now().Add(limit)
	for _, object := range objects {
		var failure *diag.Finding
		err := c.until(ctx, deadline, func() (done bool, err error) {
			failure, err = check(object)
			return failure == nil, err
		})
		if failure != nil || err != nil {
			return failure, err
		}
	}
	return nil, nil
}

// until calls a function again and again, until it reports that it is done, fails, or the time is over.
func (c *scene) until(ctx context.Context, deadline time.Time, do func() (done bool, err error)) error {
	for {
		if done, err := do(); done || err != nil || !c.o.Now().Before(deadline) {
			return err
		}
		if err := pause(ctx, checkPause); err != nil {
			return err
		}
	}
}

// check returns what is wrong with an object, or nil.
func (c *scene) check(ctx context.Context, o scenario.Operation, object scenario.Object) (*diag.Finding, error) {
	if o.Verb == scenario.Wait && o.For.Deletion {
		return c.gone(ctx, object)
	}
	found, err := c.find(ctx, object.Object)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Verb == scenario.Error:
		return unexpected(object, found), nil
	case len(found) == 0:
		return failed(RuleAssertion, object, "", "doesn't exist"), nil
	case o.Verb == scenario.Wait:
		return awaited(object, found, o.For), nil
	}
	return unlike(object, found), nil
}

// gone returns a finding if an object exists.
func (c *scene) gone(ctx context.Context, object scenario.Object) (*diag.Finding, error) {
	found, err := c.find(ctx, object.Object)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	problem := "still exists"
	if finalizers := found[0].GetFinalizers(); found[0].GetDeletionTimestamp() != nil && len(finalizers) > 0 {
		problem = "is being deleted, and waits for its finalizers " + strings.Join(finalizers, ", ")
	}
	return failed(RuleAssertion, at(object, found[0]), "", problem), nil
}

// find returns the object with the name of o, or those with its labels. A kind that doesn't exist has none.
func (c *scene) find(ctx context.Context, o *kube.Object) ([]*kube.Object, error) {
	resource, err := c.o.Client.ResourceOf(ctx, o)
	if kube.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	query := url.Values{"labelSelector": {labels.SelectorFromSet(o.GetLabels()).String()}}
	if o.GetName() != "" {
		query = url.Values{"fieldSelector": {"metadata.name=" + o.GetName()}}
	}
	namespace := o.GetNamespace()
	switch {
	case !resource.Namespaced, namespace == "*":
		namespace = ""
	case namespace == "":
		namespace = c.Namespace
	}
	return c.o.Client.List(ctx, resource, namespace, query)
}

// unlike returns a finding if no object has the wanted fields: the first difference of the object with the fewest.
func unlike(want scenario.Object, found []*kube.Object) *diag.Finding {
	var fewest []scenario.Difference
	var nearest *kube.Object
	for _, object := range found {
		differences := scenario.Differences(want.Object.Object, object.Object)
		if len(differences) == 0 {
			return nil
		}
		if nearest == nil || len(differences) < len(fewest) {
			fewest, nearest = differences, object
		}
	}
	problem := difference(fewest[0])
	if more := len(fewest) - 1; more > 0 {
		problem += fmt.Sprintf(" (%s)", diag.Count(more, "more difference"))
	}
	return failed(RuleAssertion, at(want, nearest), fewest[0].Path, problem)
}

// difference says how a field differs.
func difference(d scenario.Difference) string {
	want, isList := d.Want.([]any)
	got, isOther := d.Got.([]any)
	switch {
	case d.Got == nil:
		return "is missing, and must be " + brief(d.Want)
	case isList && isOther:
		return fmt.Sprintf("has %s, and must have %d", diag.Count(len(got), "element"), len(want))
	}
	return fmt.Sprintf("is %s, and must be %s", brief(d.Got), brief(d.Want))
}

// brief returns a value as JSON of a limited length.
func brief(v any) string {
	const limit = 120
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > limit {
		return strings.ToValidUTF8(string(text[:limit]), "") + " …"
	}
	return string(text)
}

// unexpected returns a finding if an object has all fields that none must have.
func unexpected(unwanted scenario.Object, found []*kube.Object) *diag.Finding {
	for _, object := range found {
		if len(scenario.Differences(unwanted.Object.Object, object.Object)) == 0 {
			return failed(RuleAssertion, at(unwanted, object), "", "exists with these fields, and must not")
		}
	}
	return nil
}

// awaited returns a finding if an object isn't what wait waits for.
func awaited(want scenario.Object, found []*kube.Object, goal scenario.For) *diag.Finding {
	for _, object := range found {
		field, got := "condition "+goal.Condition, ""
		if goal.Condition == "" {
			field = scenario.PathText(goal.Path)
			if value := scenario.At(object.Object, goal.Path); value != nil {
				got = fmt.Sprint(value)
			}
		}
		for _, condition := range kube.Conditions(object) {
			if goal.Condition != "" && condition.Type == goal.Condition {
				got = condition.Status
			}
		}
		switch {
		case got == "":
			return failed(RuleAssertion, at(want, object), field, "is missing")
		case goal.Value != "" && !strings.EqualFold(got, goal.Value):
			return failed(RuleAssertion, at(want, object), field, fmt.Sprintf("is %q, and must be %q", got, goal.Value))
		}
	}
	return nil
}

// at returns an object with the position of what a scenario says about it.
func at(said scenario.Object, object *kube.Object) scenario.Object {
	return scenario.Object{Object: object, Position: said.Position}
}

// failed returns a finding about an object of a scenario.
func failed(rule string, o scenario.Object, field, problem string) *diag.Finding {
	return &diag.Finding{Severity: diag.Error, Rule: rule, Position: o.Position, Object: strings.TrimSuffix(kube.FullName(o.Object), " "), Field: field, Problem: problem}
}
