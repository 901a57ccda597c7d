package operator

import (
	"context"
	"fmt"
	"net/url"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

const (
	// graceReads is the number of reads, half a second apart, in which OLM can remove the roles of an OperatorGroup.
	graceReads = 6
	// stableReads is the number of consecutive reads without roles: OLM may recreate them when the OperatorGroup is deleted.
	stableReads = 4
)

// groups removes the OperatorGroup of Run if no Subscription of the namespace needs it.
func (c *cleanup) groups(ctx context.Context) error {
	others, err := c.Client.ListNames(ctx, olm.ResourceOf("subscriptions", "Subscription"), c.Namespace, nil)
	if err != nil {
		return err
	}
	live, err := c.Client.Get(ctx, kube.Named(groupVersion, "OperatorGroup", c.Namespace, groupName))
	if err != nil {
		return err
	}
	if live == nil {
		return c.groupRoles(ctx, 1)
	}
	if len(others) > 0 {
		c.Reportf("kept %s, which %s needs", kube.FullName(live), kube.FullName(others[0]))
		return nil
	}
	if err := c.remove(ctx, live); err != nil || c.DryRun {
		return err
	}
	return c.groupRoles(ctx, stableReads)
}

// groupRoles removes the roles of a deleted OperatorGroup, which OLM does not always remove. It ends after the given number of
// consecutive reads without roles.
func (c *cleanup) groupRoles(ctx context.Context, reads int) error {
	query := url.Values{"labelSelector": {fmt.Sprintf("olm.owner=%s,olm.owner.kind=OperatorGroup,olm.owner.namespace=%s", groupName, c.Namespace)}}
	roles := kube.Resource{APIVersion: "rbac.authorization.k8s.io/v1", Name: "clusterroles", Kind: "ClusterRole"}
	for present, absent := 0, 0; ; {
		found, err := c.Client.ListNames(ctx, roles, "", query)
		switch {
		case kube.IsForbidden(err):
			return nil // a user who may not list them has not created them
		case err != nil && !kube.IsTransient(err) && ctx.Err() == nil:
			return err
		case err == nil && len(found) == 0:
			present, absent = 0, absent+1
		case err == nil:
			present, absent = present+1, 0
		}
		if absent >= reads {
			return nil
		}
		if present > graceReads || present > 0 && c.DryRun {
			if err := c.remove(ctx, found...); err != nil || c.DryRun {
				return err
			}
		}
		if !kube.Pause(ctx) {
			return fmt.Errorf("the roles of the OperatorGroup %s/%s were not deleted: %w", c.Namespace, groupName, context.Cause(ctx))
		}
	}
}
