package behavior

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/scenario"
)

// A scene is the run of a scenario.
type scene struct {
	*run
	*scenario.Scenario
	// created are the objects to delete in the end.
	created []scenario.Object
}

// scenario performs a scenario in its namespace, deletes what it has created, and records what is left.
func (r *run) scenario(ctx context.Context, s *scenario.Scenario) error {
	c := &scene{run: r, Scenario: s}
	namespace := kube.Named("v1", "Namespace", "", s.Namespace)
	existing, err := r.o.Client.Get(ctx, namespace)
	if err != nil {
		return err
	}
	if existing == nil {
		if err := r.step(ctx, s.Name+": create namespace "+s.Namespace, func() error { return r.o.Client.Apply(ctx, namespace, "") }); err != nil {
			return err
		}
	}
	r.know()
	for _, step := range s.Steps {
		passed, err := c.perform(ctx, step)
		if err != nil {
			return err
		}
		if !passed {
			break
		}
	}
	if err := c.cleanUp(ctx); err != nil || existing != nil {
		return err
	}
	return c.removeNamespace(ctx, namespace)
}

// perform does the operations of a step. It reports whether all succeeded; if not, it has recorded a finding.
func (c *scene) perform(ctx context.Context, step scenario.Step) (passed bool, err error) {
	passed, err = c.all(ctx, step, step.Try)
	if err != nil {
		return false, err
	}
	finally, err := c.all(ctx, step, step.Finally)
	return passed && finally, err
}

// all does operations until one fails.
func (c *scene) all(ctx context.Context, step scenario.Step, operations []scenario.Operation) (passed bool, err error) {
	for _, o := range operations {
		failure, err := c.operate(ctx, c.Name+"/"+step.Name+": "+title(o), o)
		if err != nil {
			return false, err
		}
		if failure != nil {
			c.observed.Failed = append(c.observed.Failed, *failure)
			return false, nil
		}
	}
	return true, nil
}

// title says what an operation does.
func title(o scenario.Operation) string {
	if o.Verb == scenario.Sleep {
		return fmt.Sprintf("sleep %s", o.Timeout)
	}
	var names []string
	for _, object := range o.Objects {
		names = append(names, strings.TrimSuffix(kube.Name(object.Object), "/"))
	}
	return string(o.Verb) + " " + strings.Join(names, ", ")
}

// operate does an operation. It returns a finding if that fails.
func (c *scene) operate(ctx context.Context, name string, o scenario.Operation) (failure *diag.Finding, err error) {
	switch o.Verb {
	case scenario.Sleep:
		c.o.Progress(name)
		return nil, pause(ctx, o.Timeout)
	case scenario.Assert, scenario.Error, scenario.Wait:
		c.o.Progress(name)
		return c.await(ctx, o.Timeout, o.Objects, func(object scenario.Object) (*diag.Finding, error) { return c.check(ctx, o, object) })
	}
	err = c.step(ctx, name, func() error {
		for _, object := range o.Objects {
			if failure, err = c.change(ctx, o, object); failure != nil || err != nil {
				return err
			}
		}
		return nil
	})
	if failure != nil || err != nil || o.Verb != scenario.Delete || o.Refused {
		return failure, err
	}
	return c.await(ctx, o.Timeout, o.Objects, func(object scenario.Object) (*diag.Finding, error) { return c.gone(ctx, object) })
}

// change changes an object as an operation says.
func (c *scene) change(ctx context.Context, o scenario.Operation, object scenario.Object) (*diag.Finding, error) {
	var err error
	// The kind of an object can be that of a CRD which was just applied.
	interrupted := c.until(ctx, c.o.Now().Add(o.Timeout), func() (bool, error) {
		err = c.send(ctx, o.Verb, at(object, object.DeepCopy()))
		return !kube.IsNotFound(err) || o.Refused, nil
	})
	switch {
	case interrupted != nil:
		return nil, interrupted
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case o.Refused && err == nil:
		return failed(RuleAssertion, object, "", fmt.Sprintf("%s succeeds, and must be refused", o.Verb)), nil
	case o.Refused && kube.IsStatus(err), err == nil:
		return nil, nil
	}
	return failed(RuleRefused, object, "", fmt.Sprintf("%s fails: %s", o.Verb, diag.Escape(err.Error()))), nil
}

// send sends the requests of a change, and remembers what it creates.
func (c *scene) send(ctx context.Context, verb scenario.Verb, o scenario.Object) error {
	client := c.o.Client
	switch verb {
	case scenario.Delete:
		return c.remove(ctx, o.Object)
	case scenario.Create:
		err := client.Create(ctx, o.Object, c.Namespace)
		if err == nil {
			c.created = append(c.created, o)
		}
		return err
	case scenario.Update:
		return client.Update(ctx, o.Object, c.Namespace)
	}
	if _, err := client.Path(ctx, o.Object, c.Namespace); err != nil { // sets the namespace
		return err
	}
	if verb == scenario.Patch {
		return client.Patch(ctx, o.Object, o.Object.Object)
	}
	existing, err := client.Get(ctx, o.Object)
	if err == nil {
		err = client.Apply(ctx, o.Object, c.Namespace)
	}
	if err == nil && existing == nil {
		c.created = append(c.created, o)
	}
	return err
}

// remove deletes the object with the name of o, or those with its labels.
func (c *scene) remove(ctx context.Context, o *kube.Object) error {
	objects, err := c.find(ctx, o)
	for _, found := range objects {
		if err := c.o.Client.Delete(ctx, found, ""); err != nil {
			return err
		}
	}
	return err
}

// cleanUp deletes what the scenario has created, the last first, and records what is left.
func (c *scene) cleanUp(ctx context.Context) error {
	for _, o := range slices.Backward(c.created) {
		found, err := c.find(ctx, o.Object)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			continue
		}
		err = c.step(ctx, c.Name+": delete "+kube.Name(o.Object), func() error {
			failure, err := c.change(ctx, scenario.Operation{Verb: scenario.Delete}, o)
			if failure != nil {
				c.observed.Failed = append(c.observed.Failed, *failure)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	c.recordLeft(c.Name, func(o *kube.Object) bool { return c.namespace == "" || o.GetNamespace() == c.namespace })
	return nil
}

// removeNamespace deletes the namespace, and records it if it stays.
func (c *scene) removeNamespace(ctx context.Context, namespace *kube.Object) error {
	if err := c.step(ctx, c.Name+": delete namespace "+c.Namespace, func() error { return c.o.Client.Delete(ctx, namespace, "") }); err != nil {
		return err
	}
	var existing *kube.Object
	err := c.until(ctx, c.o.Now().Add(c.o.Timeout), func() (gone bool, err error) {
		existing, err = c.o.Client.Get(ctx, namespace)
		return existing == nil, err
	})
	if err == nil && existing != nil {
		c.observed.Left = append(c.observed.Left, Leftover{existing, c.Name})
	}
	return err
}

// pause waits for a time.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
