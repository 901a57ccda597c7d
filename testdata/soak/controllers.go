package main

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// outcomeAnnotation is the annotation of a Job that decides how it ends: complete, failed, or running for never.
const outcomeAnnotation = "soak.example.com/outcome"

// controllers do what a cluster does with Jobs and Deployments: a Job ends at once as its annotation says, and a Deployment gets its
// replicas.
type controllers struct {
	client client.WithWatch

	mu sync.Mutex
	// runs are the Jobs that have ended, by namespace and name.
	runs map[types.NamespacedName]map[types.UID]bool
}

func newControllers(c client.WithWatch) *controllers {
	return &controllers{client: c, runs: map[types.NamespacedName]map[types.UID]bool{}}
}

// run runs until ctx ends.
func (c *controllers) run(ctx context.Context) {
	var group sync.WaitGroup
	for _, kind := range []struct {
		apiVersion, kind string
		sync             func(context.Context, *unstructured.Unstructured) error
	}{{"batch/v1", "Job", c.endJob}, {"apps/v1", "Deployment", c.scale}} {
		group.Go(func() {
			for ctx.Err() == nil {
				// A watch ends when the API server does. Objects whose update failed are synced again after the next list.
				_ = c.follow(ctx, kind.apiVersion, kind.kind, kind.sync)
				sleep(ctx, 100*time.Millisecond)
			}
		})
	}
	group.Wait()
}

// follow calls sync for all objects of a kind, and for those that change, until an error.
func (c *controllers) follow(ctx context.Context, apiVersion, kind string, sync func(context.Context, *unstructured.Unstructured) error) error {
	list := newList(apiVersion, kind)
	if err := c.client.List(ctx, list); err != nil {
		return err
	}
	for i := range list.Items {
		if err := sync(ctx, &list.Items[i]); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	events, err := c.client.Watch(ctx, list, &client.ListOptions{Raw: listFrom(list.GetResourceVersion())})
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		obj, ok := event.Object.(*unstructured.Unstructured)
		switch {
		case event.Type == watch.Error || !ok:
			return fmt.Errorf("watch of %s: %v", kind, event.Object)
		case event.Type == watch.Deleted:
			continue
		}
		if err := sync(ctx, obj); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// endJob ends a Job that runs.
func (c *controllers) endJob(ctx context.Context, job *unstructured.Unstructured) error {
	outcome := job.GetAnnotations()[outcomeAnnotation]
	if _, ended, _ := unstructured.NestedSlice(job.Object, "status", "conditions"); ended || outcome == "" || outcome == "running" {
		return nil
	}
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind string) any {
		return map[string]any{"type": kind, "status": "True", "reason": "Soak", "lastTransitionTime": now, "lastProbeTime": now}
	}
	status := map[string]any{"startTime": now, "completionTime": now, "succeeded": int64(1), "conditions": []any{condition("SuccessCriteriaMet"), condition("Complete")}}
	if outcome == "failed" {
		status = map[string]any{"startTime": now, "failed": int64(1), "conditions": []any{condition("FailureTarget"), condition("Failed")}}
	}
	if err := c.patchStatus(ctx, job, status); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := client.ObjectKeyFromObject(job)
	if c.runs[key] == nil {
		c.runs[key] = map[types.UID]bool{}
	}
	c.runs[key][job.GetUID()] = true
	return nil
}

// jobRuns returns the number of Jobs of a name that have ended.
func (c *controllers) jobRuns(namespace, name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(maps.Clone(c.runs[types.NamespacedName{Namespace: namespace, Name: name}]))
}

// scale reports that all replicas of a Deployment are available.
func (c *controllers) scale(ctx context.Context, deployment *unstructured.Unstructured) error {
	observed, _, _ := unstructured.NestedInt64(deployment.Object, "status", "observedGeneration")
	if observed == deployment.GetGeneration() {
		return nil
	}
	replicas, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind, reason string) any {
		return map[string]any{"type": kind, "status": "True", "reason": reason, "lastTransitionTime": now, "lastUpdateTime": now}
	}
	return c.patchStatus(ctx, deployment, map[string]any{
		"observedGeneration": deployment.GetGeneration(), "replicas": replicas, "updatedReplicas": replicas,
		"readyReplicas": replicas, "availableReplicas": replicas,
		"conditions": []any{condition("Available", "MinimumReplicasAvailable"), condition("Progressing", "NewReplicaSetAvailable")},
	})
}

func (c *controllers) patchStatus(ctx context.Context, obj *unstructured.Unstructured, status map[string]any) error {
	before := obj.DeepCopy()
	obj = obj.DeepCopy()
	obj.Object["status"] = status
	return c.client.Status().Patch(ctx, obj, client.MergeFrom(before))
}
