package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// runLoad installs many resources, counts what the operator does at rest, and changes and deletes a tenth.
func runLoad(ctx context.Context, e *env) error {
	n := e.resources
	if e.flavor.name == "ansible" {
		n = e.ansibleResources
	}
	if err := e.createMany(ctx, n); err != nil {
		return err
	}
	o, err := e.startOperator(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := e.waitReady(ctx, n); err != nil {
		return err
	}
	took := time.Since(start)
	requests := e.requests.counted()
	cpu := cpuSeconds(o.marker)
	if err := e.verify(ctx, "load", convergence); err != nil {
		return err
	}
	e.checkCreatedOnce("load")
	e.detailf("requests:\n%s", requests)
	e.figure("resources", "Custom resources", "%s", thousands(n))
	e.figure("install", "All are installed after", "%.0f s", took.Seconds())
	e.figure("install-cpu", "CPU time of the operator per installation", "%.2f s", cpu/float64(n))
	e.figure("install-requests", "Requests per installation", "%.1f", float64(requests.total(nil))/float64(n))
	if err := e.atRest(ctx, o, n); err != nil {
		return err
	}
	return e.changeMany(ctx, o, n)
}

// createMany creates resources before the operator runs. Each tenth has hooks.
func (e *env) createMany(ctx context.Context, n int) error {
	names := make(chan string)
	errs := make(chan error, n)
	for i := range n {
		name := fmt.Sprintf("r%04d", i)
		s := spec{Tag: "1", Message: "message of " + name, Hooks: i%10 == 0}
		e.expected[name] = &resource{name: name, spec: s, good: s}
	}
	all := e.living()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for name := range names {
				errs <- e.plane.client.Create(ctx, e.object(name, e.expected[name].spec))
			}
		})
	}
	for _, name := range all {
		names <- name
	}
	close(names)
	group.Wait()
	close(errs)
	var result error
	for err := range errs {
		result = errors.Join(result, err)
	}
	return result
}

// waitReady waits until n resources are ready, and reports the progress.
func (e *env) waitReady(ctx context.Context, n int) error {
	reported := time.Now()
	return poll(ctx, 2*time.Hour, time.Second, func(ctx context.Context) error {
		list := newList(e.flavor.apiVersion(), e.flavor.kind)
		if err := e.plane.client.List(ctx, list, client.InNamespace(e.namespace)); err != nil {
			return err
		}
		ready := 0
		for i := range list.Items {
			if len(checkReady(&list.Items[i], "True")) == 0 {
				ready++
			}
		}
		if ready == n {
			return nil
		}
		if time.Since(reported) > 10*time.Second {
			e.progressf("%d of %d resources are ready", ready, n)
			reported = time.Now()
		}
		return fmt.Errorf("%d of %d resources are ready", ready, n)
	})
}

// checkCreatedOnce records objects that were created more than once.
func (e *env) checkCreatedOnce(what string) {
	twice := e.createdTwice()
	for _, name := range e.living() {
		if len(twice[name]) > 0 {
			e.violatef("%s: created more than once: %q", what, twice[name])
		}
	}
}

// maxOfProcess is how many requests a process may send in a minute however many resources there are, see gateway.Key.IsOfProcess: a Helm
// operator reads three documents in each reconcile period, of which two can begin in a minute, and renews a dozen watches in ten minutes.
const maxOfProcess = 10

// atRest counts what the operator does while nothing changes.
func (e *env) atRest(ctx context.Context, o *operator, n int) error {
	e.settle(ctx)
	e.progressf("at rest for %s", e.rest)
	before, writes, since := e.requests.counted(), len(e.requests.written()), time.Now()
	cpuBefore := cpuSeconds(o.marker)
	sleep(ctx, e.rest)
	cpu := cpuSeconds(o.marker)
	rss, err := residentKiB(o.pid())
	if err != nil {
		return err
	}
	counts := e.requests.counted().minus(before)
	process := float64(counts.total(key.isOfProcess)) / e.rest.Minutes()
	rate := float64(counts.total(nil))/float64(n)/e.rest.Minutes() - process/float64(n)
	rest := e.restWrites(writes)
	if rate > 1 || process > maxOfProcess {
		e.violatef("at rest, %.2f requests per resource and minute and %.1f of the process, at most 1 and %d are allowed:\n%s", rate, process, maxOfProcess, counts)
	}
	if len(rest) > 0 {
		e.violatef("%d writes at rest, such as %s; events: %q", len(rest), rest[0], e.eventsSince(ctx, since))
	}
	e.figure("load-rss", "Memory of the operator (RSS)", "%d MiB", rss>>10)
	e.figure("rest", "Requests at rest, per resource and minute", "%.2f", rate)
	e.figure("rest-process", "Requests for discovery and watches at rest, per minute", "%.1f", process)
	e.figure("rest-writes", "Writes at rest", "%d", len(rest))
	e.figure("rest-cpu", "CPU time at rest", "%.1f %%", 100*(cpu-cpuBefore)/e.rest.Seconds())
	return nil
}

// settle waits until nothing was written for as long as requests at rest are counted, by default the period of Helm operators: only the
// second pass of a release can find out that its chart is not deterministic, and says so once.
func (e *env) settle(ctx context.Context) {
	for range 5 {
		written := len(e.restWrites(0))
		e.progressf("waiting until nothing is written for %s", e.rest)
		sleep(ctx, e.rest)
		if len(e.restWrites(0)) == written {
			return
		}
	}
}

// eventsSince returns the first message of each reason of the events since a time.
func (e *env) eventsSince(ctx context.Context, since time.Time) map[string]string {
	var list corev1.EventList
	if err := e.plane.client.List(ctx, &list, client.InNamespace(e.namespace)); err != nil {
		return map[string]string{"no events": err.Error()}
	}
	messages := map[string]string{}
	for _, event := range list.Items {
		if _, ok := messages[event.Reason]; !ok && event.CreationTimestamp.After(since) {
			messages[event.Reason] = event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name + ": " + event.Message
		}
	}
	return messages
}

// changeMany changes a tenth of the resources and deletes another tenth.
func (e *env) changeMany(ctx context.Context, o *operator, n int) error {
	names := e.living()
	e.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	tenth := n / 10
	for i, name := range names[:2*tenth] {
		changed := e.expected[name].spec
		changed.Tag = "2"
		var err error
		if i < tenth {
			err = e.update(ctx, name, changed)
		} else {
			err = e.remove(ctx, name)
		}
		if err != nil {
			return err
		}
	}
	before := len(e.requests.written())
	start := time.Now()
	const perChange = 5 * time.Second // a run of Ansible on a slow machine
	if err := e.verify(ctx, "changes", convergence+time.Duration(2*tenth)*perChange); err != nil {
		return err
	}
	e.progressf("%d changed and %d deleted in %.0f s", tenth, tenth, time.Since(start).Seconds())
	touched := names[:2*tenth]
	unexpected := slices.DeleteFunc(e.restWrites(before), func(w gateway.Record) bool {
		return w.Resource == "events" || slices.ContainsFunc(touched, func(name string) bool { return e.isWriteOf(name)(w.Request) })
	})
	if len(unexpected) > 0 {
		e.violatef("%d writes of resources that didn't change, such as %s", len(unexpected), unexpected[0])
	}
	o.checkExits()
	return nil
}
