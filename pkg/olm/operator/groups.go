package operator

import (
	"context"
	"fmt"
	"net/url"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

const (
	// patience is how many looks, half a second apart, OLM gets to remove the roles of an OperatorGroup by itself.
	patience = 6
	// quiet is how many looks in a row must find none: OLM makes them again if it was looking at the OperatorGroup while that went.
	quiet = 4
)

// groups removes the OperatorGroup of a run once no subscription of the namespace needs it.
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
	return c.groupRoles(ctx, quiet)
}

// groupRoles removes the roles of an OperatorGroup that is gone, which OLM forgets at times.
func (c *cleanup) groupRoles(ctx context.Context, quiet int) error {
	query := url.Values{"labelSelector": {fmt.Sprintf("olm.owner=%s,olm.owner.kind=OperatorGroup,olm.owner.namespace=%s", groupName, c.Namespace)}}
	roles := kube.Resource{APIVersion: "rbac.authorization.k8s.io/v1", Name: "clusterroles", Kind: "ClusterRole"}
	for there, none := 0, 0; ; {
		found, err := c.Client.ListNames(ctx, roles, "", query)
		switch {
		case kube.IsForbidden(err):
			return nil // who may not see them has not made them either
		case err != nil && !kube.IsTransient(err) && ctx.Err() == nil:
			return err
		case err == nil && len(found) == 0:
			there, none = 0, none+1
		case err == nil:
			there, none = there+1, 0
		}
		if none >= quiet {
			return nil
		}
		if there > patience || there > 0 && c.DryRun {
			if err := c.remove(ctx, found...); err != nil || c.DryRun {
				return err
			}
		}
		if !kube.Pause(ctx) {
			return fmt.Errorf("the roles of the OperatorGroup %s/%s do not go: %w", c.Namespace, groupName, context.Cause(ctx))
		}
	}
}
