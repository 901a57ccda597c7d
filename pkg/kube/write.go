package kube

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Change is the effect of ApplyOrRecreate on an object.
type Change string

// The values of Change.
const (
	Created   Change = "created"
	Updated   Change = "updated"
	Replaced  Change = "replaced"
	Unchanged Change = "unchanged"
)

// ApplyOrRecreate applies an object. It removes fields that formerManagers set and the object does not have, and recreates an
// object whose fields are immutable.
func (c *Client) ApplyOrRecreate(ctx context.Context, o *Object, formerManagers ...string) (Change, error) {
	before, err := c.Get(ctx, o)
	if err != nil {
		return "", err
	}
	if before == nil {
		return Created, c.Apply(ctx, o, o.GetNamespace())
	}
	if err := c.Adopt(ctx, before, formerManagers...); err != nil {
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
	for _, o := range []*Object{before, after} { // managed fields are not a visible change
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
	}
	if reflect.DeepEqual(before.Object, after.Object) {
		return Unchanged, nil
	}
	return Updated, nil
}

// Create creates an object, in a namespace if it is of a namespaced kind and doesn't name one. o gets the generated name, if it asks for one.
func (c *Client) Create(ctx context.Context, o *Object, namespace string) error {
	path, err := c.kindPath(ctx, o, namespace)
	if err != nil {
		return err
	}
	var created Object
	if err := c.Do(ctx, http.MethodPost, path+"?fieldValidation=Strict&fieldManager="+Manager, "", o.Object, &created.Object); err != nil {
		return err
	}
	o.SetName(created.GetName())
	return nil
}

// Update replaces an object, whatever its version is.
func (c *Client) Update(ctx context.Context, o *Object, namespace string) error {
	path, err := c.Path(ctx, o, namespace)
	if err != nil {
		return err
	}
	var current Object
	if err := c.Do(ctx, http.MethodGet, path, "", nil, &current.Object); err != nil {
		return err
	}
	o.SetResourceVersion(current.GetResourceVersion())
	return c.Do(ctx, http.MethodPut, path+"?fieldValidation=Strict&fieldManager="+Manager, "", o.Object, nil)
}

// IsImmutable reports whether a change was rejected because the object must be recreated for it.
func IsImmutable(err error) bool {
	return errorCode(err) == http.StatusUnprocessableEntity &&
		(strings.Contains(err.Error(), "field is immutable") || strings.Contains(err.Error(), "cannot change roleRef"))
}

// IsBeingDeleted reports whether an object was rejected because its namespace is being deleted.
func IsBeingDeleted(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "because it is being terminated")
}

// DropFinalizers removes the finalizers of an object. It is not an error if the object does not exist.
func (c *Client) DropFinalizers(ctx context.Context, o *Object) error {
	err := c.Patch(ctx, o, map[string]any{"metadata": map[string]any{"finalizers": nil}})
	if IsNotFound(err) {
		return nil
	}
	return err
}
