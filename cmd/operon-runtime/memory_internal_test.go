package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

var memory = flag.Bool("memory", false, "measure the memory of 50 releases with 5,000 objects of others")

// maxMemory is the limit of TestMemory in KiB.
const maxMemory = 100 << 10

// residentMemory returns the current and the maximum resident memory of a process in KiB.
func residentMemory(t *testing.T, pid int) (current, maximum int) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("the memory of a process is measured on Linux only: %v", err)
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		for name, into := range map[string]*int{"VmRSS:": &current, "VmHWM:": &maximum} {
			if len(fields) > 1 && fields[0] == name {
				if *into, err = strconv.Atoi(fields[1]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return current, maximum
}

// createForeign creates n ConfigMaps and n Secrets with size bytes that belong to no release.
func (e *env) createForeign(namespace string, n, size int) {
	e.Helper()
	data := strings.Repeat("x", size)
	work := make(chan int)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for i := range work {
				meta := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("foreign-%d", i)}
				err := errors.Join(
					e.client.Create(e.Context(), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"data": data}}),
					e.client.Create(e.Context(), &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"data": data}}))
				if err != nil {
					e.Error(err)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	group.Wait()
}

// TestForeignObjectsAreNotCached checks that memory does not grow with objects of others of kinds that releases contain.
func TestForeignObjectsAreNotCached(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	namespace, other := e.namespace("a"), e.namespace("b")
	e.create(e.group, "App", namespace, "one")
	p := e.start(nil, "--reconcile-period", "1h")
	e.waitDeployed(e.group, "App", namespace, "one")
	e.recreates("v1", "ConfigMap", namespace, "one")
	_, before := residentMemory(t, p.cmd.Process.Pid)
	const mebibytes = 64
	e.createForeign(other, mebibytes, 500<<10)
	e.recreates("v1", "ConfigMap", namespace, "one") // its watch has received what precedes it
	if _, after := residentMemory(t, p.cmd.Process.Pid); after-before > mebibytes<<10/2 {
		t.Errorf("the memory grows from %d to %d KiB with %d MiB of other objects", before, after, mebibytes)
	}
	p.mustStop()
}

// twentyObjects is a template with 18 objects; the chart of newEnv has 2.
const twentyObjects = `{{- range $i := until 5 }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ $.Release.Name }}-{{ $i }}"}
data: {text: "{{ repeat 1000 "x" }}"}
---
apiVersion: v1
kind: Secret
metadata: {name: "{{ $.Release.Name }}-{{ $i }}"}
stringData: {text: "{{ repeat 1000 "x" }}"}
{{- end }}
{{- range $i := until 4 }}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ $.Release.Name }}-{{ $i }}"}
spec: {selector: {app: "{{ $.Release.Name }}"}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ $.Release.Name }}-{{ $i }}"}
spec:
  replicas: 0
  selector: {matchLabels: {app: "{{ $.Release.Name }}-{{ $i }}"}}
  template:
    metadata: {labels: {app: "{{ $.Release.Name }}-{{ $i }}"}}
    spec: {containers: [{name: main, image: example.com/main}]}
{{- end }}
`

// TestMemory measures the memory of 50 releases of 20 objects in a cluster with 5,000 foreign Secrets and ConfigMaps, and the memory of a
// client that caches all objects of the same kinds.
func TestMemory(t *testing.T) {
	if !*memory {
		t.Skip("-memory is not given")
	}
	e := newEnv(t, "App")
	e.write("helm-charts/app-"+e.group+"/templates/more.yaml", twentyObjects)
	program := filepath.Join(t.TempDir(), "operon-runtime")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	e.createForeign(e.namespace("foreign"), 2500, 4<<10)
	namespace := e.namespace("a")
	const releases = 50
	for i := range releases {
		e.create(e.group, "App", namespace, fmt.Sprintf("app-%d", i))
	}
	p := e.startProgram(program, helmOperator, nil, "--reconcile-period", "10s")
	for i := range releases {
		e.waitDeployed(e.group, "App", namespace, fmt.Sprintf("app-%d", i))
	}
	passes := strings.Count(p.output(), "\n")
	e.recreates("v1", "ConfigMap", namespace, "app-1")
	e.recreates("v1", "ConfigMap", namespace, "app-49")
	current, maximum := residentMemory(t, p.cmd.Process.Pid)
	p.mustStop()
	user, system := p.cmd.ProcessState.UserTime(), p.cmd.ProcessState.SystemTime()
	t.Logf("operon-runtime: %d KiB resident, at most %d KiB; CPU %s user, %s system; %d lines of log", current, maximum, user, system, passes)
	whole := e.start([]string{programVariable + "=" + wholeCacheProgram})
	e.eventually("the whole cache is synced", func() error {
		if !strings.Contains(whole.output(), "synced") {
			return errors.New(whole.output())
		}
		return nil
	})
	wholeCurrent, wholeMaximum := residentMemory(t, whole.cmd.Process.Pid)
	t.Logf("a cache of whole objects: %d KiB resident, at most %d KiB", wholeCurrent, wholeMaximum)
	if maximum > maxMemory {
		t.Errorf("%d releases need %d KiB, want at most %d", releases, maximum, maxMemory)
	}
}

const wholeCacheProgram = "whole-cache"

// wholeCache caches all objects of the kinds of twentyObjects, as operator-sdk's helm-operator does, until the process is killed.
func wholeCache(kubeconfig string) {
	ctrllog.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		panic(err)
	}
	c, err := cache.New(config, cache.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for _, gvk := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "Service"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
	} {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(gvk)
		if _, err := c.GetInformer(ctx, obj, cache.BlockUntilSynced(false)); err != nil {
			panic(err)
		}
	}
	go func() { panic(c.Start(ctx)) }()
	c.WaitForCacheSync(ctx)
	fmt.Println("synced")
	select {}
}
