package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

// Apply applies an object like kubectl apply --server-side --force-conflicts.
func (c *Client) Apply(ctx context.Context, o *Object, namespace string) error {
	return c.apply(ctx, o, namespace, "&force=true", nil)
}

// Check is a dry run of Apply.
func (c *Client) Check(ctx context.Context, o *Object, namespace string) error {
	return c.apply(ctx, o, namespace, "&force=true&dryRun=All", nil)
}

// ApplyOptions are the options of ApplyWith.
type ApplyOptions struct {
	// Force takes over fields that other managers have set to other values. Without it, they are conflicts; see FieldConflicts.
	Force bool
	// DryRun changes nothing.
	DryRun bool
}

// ApplyWith applies an object like kubectl apply --server-side and returns it as the server has it afterwards.
func (c *Client) ApplyWith(ctx context.Context, o *Object, namespace string, options ApplyOptions) (*Object, error) {
	query := fmt.Sprintf("&force=%t", options.Force)
	if options.DryRun {
		query += "&dryRun=All"
	}
	var text json.RawMessage
	if err := c.apply(ctx, o, namespace, query, &text); err != nil {
		return nil, err
	}
	return decodeObject(text)
}

func (c *Client) apply(ctx context.Context, o *Object, namespace, query string, out any) error {
	path, err := c.Path(ctx, o, namespace)
	if err != nil {
		return err
	}
	return c.Do(ctx, http.MethodPatch, path+"?fieldValidation=Strict&fieldManager="+Manager+query, ApplyPatch, o.Object, out)
}

// A FieldConflict is a field that another manager has set to another value.
type FieldConflict struct {
	// Field is its path, such as .spec.replicas, and Manager the name of the manager, such as kubectl-edit.
	Field, Manager string
	// Subresource is where it was set, such as scale, or empty for the object itself.
	Subresource string
}

// FieldConflicts returns the conflicts because of which the server rejected an object; none for other errors.
func FieldConflicts(err error) (conflicts []FieldConflict) {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Details == nil {
		return nil
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		// The message is: conflict with "kubectl" with subresource "scale" using apps/v1
		_, rest, _ := strings.Cut(cause.Message, `"`)
		manager, rest, _ := strings.Cut(rest, `"`)
		c := FieldConflict{Field: cause.Field, Manager: manager}
		if rest, ok := strings.CutPrefix(rest, ` with subresource "`); ok {
			c.Subresource, _, _ = strings.Cut(rest, `"`)
		}
		conflicts = append(conflicts, c)
	}
	return conflicts
}

// Adopt makes Operon the manager of the fields of former managers, whether they applied or updated the object, so that the next Apply
// removes those that it does not set.
func (c *Client) Adopt(ctx context.Context, o *Object, formerManagers ...string) error {
	if !IsManagedBy(o, formerManagers...) {
		return nil
	}
	former, adopted := sets.New(formerManagers...), o.DeepCopy()
	entries := adopted.GetManagedFields()
	for i, entry := range entries {
		if former.Has(entry.Manager) && entry.Subresource == "" { // csaupgrade moves only what managers have updated
			entries[i].Operation = metav1.ManagedFieldsOperationUpdate
		}
	}
	adopted.SetManagedFields(entries)
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(adopted, former, Manager)
	if err != nil || patch == nil {
		return err
	}
	path, err := c.Path(ctx, o, o.GetNamespace())
	if err != nil {
		return err
	}
	if err := c.Do(ctx, http.MethodPatch, path, "application/json-patch+json", rawJSON(patch), nil); err != nil {
		return fmt.Errorf("taking ownership of the fields of %s: %w", FullName(o), err)
	}
	return nil
}

// IsManagedBy reports whether one of some managers has set fields of an object, other than through a subresource.
func IsManagedBy(o *Object, managers ...string) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource == "" && slices.Contains(managers, entry.Manager)
	})
}

// rawJSON is marshaled unchanged.
type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }
