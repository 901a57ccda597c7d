//go:build unix

package main

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// BenchmarkPass measures a pass of an unchanged release of 20 objects.
func BenchmarkPass(b *testing.B) {
	e := newEnv(b, "App")
	e.write("helm-charts/app-"+e.group+"/templates/more.yaml", twentyObjects)
	namespace := e.namespace("a")
	e.create(e.group, "App", namespace, "one")
	setLoggers(logr.Discard())
	reconciler, err := helmoperator.New(
		helmoperator.WithGroupVersionKind(schema.GroupVersionKind{Group: e.group, Version: "v1", Kind: "App"}),
		helmoperator.WithChartPath(filepath.Join(e.dir, "helm-charts", "app-"+e.group)))
	if err != nil {
		b.Fatal(err)
	}
	o := managerOptions{metricsAddress: "0", probeAddress: "0"}
	mgr, err := o.newManager(e.config, logr.Discard())
	if err == nil {
		err = helmoperator.Setup(mgr, reconciler)
	}
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		if err := mgr.Start(b.Context()); err != nil {
			b.Error(err)
		}
	}()
	e.waitDeployed(e.group, "App", namespace, "one")
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: "one"}}
	b.ReportAllocs()
	before := cpuSeconds(b)
	for b.Loop() {
		if _, err := reconciler.Reconcile(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpuSeconds(b)-before)*1e9/float64(b.N), "cpu-ns/op")
}

// cpuSeconds returns the CPU time of this process without the control plane's.
func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
