package main

import (
	"context"
	"slices"
	"time"
)

// runMemory lets many periods pass, and compares the memory in the first and in the last quarter.
func runMemory(ctx context.Context, e *env) error {
	n, period := min(e.resources, 50), time.Second
	if e.flavor.name == "ansible" {
		n, period = min(e.ansibleResources, 3), 2*time.Second // each period is a run of Ansible
	}
	if err := e.createMany(ctx, n); err != nil {
		return err
	}
	o, err := e.startOperator(ctx, "--reconcile-period", period.String())
	if err != nil {
		return err
	}
	if err := e.waitReady(ctx, n); err != nil {
		return err
	}
	e.progressf("%d resources, %d periods of %s", n, e.periods, period)
	const warmUp = 5
	sleep(ctx, warmUp*period)
	var samples []int
	for range e.periods * 2 {
		sleep(ctx, period/2)
		rss, err := residentKiB(o.pid())
		if err != nil {
			return err
		}
		samples = append(samples, rss)
	}
	quarter := len(samples) / 4
	first, last := median(samples[:quarter]), median(samples[len(samples)-quarter:])
	if limit := first + first/10 + 4<<10; last > limit {
		e.violatef("the memory grows from %d KiB to %d KiB in %d periods", first, last, e.periods)
	}
	e.figure("periods", "Periods in which memory must not grow", "%d with %d resources", e.periods, n)
	e.figure("memory", "Memory in the first and in the last quarter", "%.1f and %.1f MiB", float64(first)/1024, float64(last)/1024)
	o.checkExits()
	if e.flavor.name == "ansible" {
		return nil // a run is always in progress
	}
	e.checkCreatedOnce("memory")
	return e.verify(ctx, "memory", convergence)
}

func median(samples []int) int {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)/2]
}
