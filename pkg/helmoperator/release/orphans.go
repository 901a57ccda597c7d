package release

import (
	"context"
	"errors"
	"fmt"
)

// deleteOrphans deletes objects outside of the namespace of a release whose record is gone, as after the deletion of the namespace,
// which deletes the record first. They are those that the chart renders and that belong to the custom resource. Without chart, or if
// it cannot be rendered anymore, none is found.
func (r *Release) deleteOrphans(ctx context.Context) (*Removal, error) {
	removal := &Removal{Done: true}
	if r.options.Chart == nil {
		return removal, nil
	}
	rendered, err := r.renderVariant(ctx, situation{revision: 1, install: true}, false, readCluster(false))
	if err != nil {
		return removal, nil // the values may be those of another version of the chart
	}
	var errs []error
	for _, k := range rendered.keys {
		info, err := r.info(rendered.objects[k])
		if isUnserved(err) || err == nil && (info.Namespace == r.namespace || info.Name == "") {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		live, err := r.get(ctx, info)
		switch {
		case isMissing(err):
			continue
		case err == nil && (isKept(live) || !r.isOwned(live) || !r.owner.owns(live)):
			continue
		case err == nil && live.GetDeletionTimestamp() == nil:
			err = r.delete(ctx, info, live)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", k, err))
			continue
		}
		if _, err := r.get(ctx, info); !isMissing(err) {
			removal.Remaining = append(removal.Remaining, Object{
				GroupVersionKind: info.Mapping.GroupVersionKind, Namespace: info.Namespace, Name: info.Name, Namespaced: info.Namespaced(),
			})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, r.errorf("uninstall: %w", err)
	}
	return removal, nil
}
