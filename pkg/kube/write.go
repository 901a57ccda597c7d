package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

// Change is what Bring did to an object.
type Change string

// The changes that Bring makes.
const (
	Created   Change = "created"
	Updated   Change = "updated"
	Replaced  Change = "replaced"
	Unchanged Change = "unchanged"
)

// Bring applies an object and makes it as it would be had nobody else applied it before: fields that
// formerManagers have set and the object does not have any more are removed, and an object whose fields
// cannot be changed is made anew.
func (c *Client) Bring(ctx context.Context, o *Object, formerManagers ...string) (Change, error) {
	before, err := c.Get(ctx, o)
	if err != nil {
		return "", err
	}
	if before == nil {
		return Created, c.Apply(ctx, o, o.GetNamespace())
	}
	if err := c.adopt(ctx, before, formerManagers); err != nil {
		return "", err
	}
	err = c.Apply(ctx, o, o.GetNamespace())
	if IsImmutable(err) {
		if err := c.Delete(ctx, o, o.GetNamespace()); err != nil {
			return "", err
		}
		return Replaced, c.Apply(ctx, o, o.GetNamespace())
	}
	if err != nil {
		return "", err
	}
	after, err := c.Get(ctx, o)
	if err != nil || after == nil {
		return Updated, err
	}
	for _, o := range []*Object{before, after} { // who owns what is nothing that a person sees
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
	}
	if reflect.DeepEqual(before.Object, after.Object) {
		return Unchanged, nil
	}
	return Updated, nil
}

// IsImmutable tells that an object must be made anew to be changed like this.
func IsImmutable(err error) bool {
	status, ok := errors.AsType[*StatusError](err)
	return ok && status.Code == http.StatusUnprocessableEntity &&
		(strings.Contains(status.Message, "field is immutable") || strings.Contains(status.Message, "cannot change roleRef"))
}

// IsBeingDeleted tells that an object cannot be made, because its namespace is being deleted.
func IsBeingDeleted(err error) bool {
	return hasCode(err, http.StatusForbidden) && strings.Contains(err.Error(), "because it is being terminated")
}

// adopt makes fields that former managers have set Operon's own, so that the next Apply removes those
// which it does not have.
func (c *Client) adopt(ctx context.Context, o *Object, formerManagers []string) error {
	if len(formerManagers) == 0 {
		return nil
	}
	former := sets.New(formerManagers...)
	owned := false
	for _, entry := range o.GetManagedFields() {
		owned = owned || former.Has(entry.Manager)
	}
	if !owned {
		return nil
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(o, former, Manager)
	if err != nil || patch == nil {
		return err
	}
	path, err := c.Path(ctx, o, o.GetNamespace())
	if err != nil {
		return err
	}
	if err := c.Do(ctx, http.MethodPatch, path, "application/json-patch+json", rawJSON(patch), nil); err != nil {
		return fmt.Errorf("taking over the fields of %s: %w", FullName(o), err)
	}
	return nil
}

// rawJSON is sent as it is.
type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// DropFinalizers lets an object that is being deleted go, without what its finalizers wait for.
func (c *Client) DropFinalizers(ctx context.Context, o *Object) error {
	path, err := c.Path(ctx, o, o.GetNamespace())
	if err == nil {
		err = c.Do(ctx, http.MethodPatch, path, MergePatch, map[string]any{"metadata": map[string]any{"finalizers": nil}}, nil)
	}
	if IsNotFound(err) {
		return nil
	}
	return err
}
