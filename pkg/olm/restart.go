package olm

import (
	"context"
	"fmt"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/kube"
)

// restart deletes the pods of a service account that was recreated after them: their tokens are invalid, which the status of
// their Deployments does not show. Deleting a pod whose token was renewed since does no harm.
func (in *installation) restart(ctx context.Context) error {
	for _, account := range in.Release.Objects {
		if account.GetKind() != "ServiceAccount" {
			continue
		}
		pods, err := in.outdated(ctx, account)
		if err != nil {
			return in.stopped(ctx, err)
		}
		for _, pod := range pods {
			if err := kube.Retry(ctx, func() error { return in.Client.Delete(ctx, pod, pod.GetNamespace()) }); err != nil {
				return in.stopped(ctx, fmt.Errorf("deleting %s: %w", kube.FullName(pod), err))
			}
			in.Reportf("restarted %s, which is older than %s", kube.FullName(pod), kube.FullName(account))
		}
		if err := in.waitRestarted(ctx, account, pods); err != nil {
			return err
		}
	}
	return nil
}

// waitRestarted waits for the deletion of pods, so that they are not mistaken for their successors.
func (in *installation) waitRestarted(ctx context.Context, account *kube.Object, pods []*kube.Object) error {
	for len(pods) > 0 {
		left, err := in.outdated(ctx, account)
		if err != nil && ctx.Err() == nil {
			return in.stopped(ctx, err)
		}
		if err == nil {
			pods = left
		}
		if len(pods) == 0 {
			return nil
		}
		in.Waitf("waiting for the deletion of %s", kube.FullName(pods[0]))
		if !kube.Pause(ctx) {
			return in.stopped(ctx, fmt.Errorf("%s was not deleted, possibly because its node does not respond: %w", kube.FullName(pods[0]), context.Cause(ctx)))
		}
	}
	return nil
}

// outdated returns the pods of Deployments that are older than their service account.
func (in *installation) outdated(ctx context.Context, account *kube.Object) ([]*kube.Object, error) {
	var live *kube.Object
	var pods []*kube.Object
	err := kube.Retry(ctx, func() (err error) {
		if live, err = in.Client.Get(ctx, account); err != nil || live == nil {
			return err
		}
		pods, err = in.Client.ListNames(ctx, kube.Pods(), account.GetNamespace(),
			url.Values{"fieldSelector": {"spec.serviceAccountName=" + account.GetName()}})
		return err
	})
	if err != nil || live == nil {
		return nil, err
	}
	var found []*kube.Object
	created := live.GetCreationTimestamp()
	for _, pod := range pods {
		controller, stamp := metav1.GetControllerOf(pod), pod.GetCreationTimestamp()
		if controller != nil && controller.Kind == "ReplicaSet" && stamp.Before(&created) {
			found = append(found, pod)
		}
	}
	return found, nil
}
