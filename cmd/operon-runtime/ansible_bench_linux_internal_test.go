package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/testdata/ansible"
)

// siteTasks are the tasks of a role that creates three objects.
const siteTasks = `---
- name: Create the objects
  kubernetes.core.k8s:
    definition: "{{ lookup('template', item + '.yml.j2') | from_yaml }}"
  loop: [configmap, service, deployment]
`

// siteTemplates are the templates of the role.
func siteTemplates() map[string]string {
	const meta = `metadata: {name: "{{ ansible_operator_meta.name }}", namespace: "{{ ansible_operator_meta.namespace }}"}` + "\n"
	return map[string]string{
		"configmap": "apiVersion: v1\nkind: ConfigMap\n" + meta + "data: {size: \"{{ size }}\"}\n",
		"service":   "apiVersion: v1\nkind: Service\n" + meta + "spec: {selector: {app: a}, ports: [{port: 80}]}\n",
		"deployment": "apiVersion: apps/v1\nkind: Deployment\n" + meta + "spec:\n  replicas: {{ size }}\n  selector: {matchLabels: {app: a}}\n" +
			"  template:\n    metadata: {labels: {app: a}}\n    spec: {containers: [{name: c, image: \"registry.example.com/c:1\"}]}\n",
	}
}

// BenchmarkAnsiblePass measures a pass that changes nothing, and ansible-runner as called by hand for the same role, alternately. It
// reports the medians of the time and of the CPU time, which depends less on what else the machine does, and the largest memory of all
// processes that either starts. The CPU time includes that of this process, with the proxy; the memory does not.
func BenchmarkAnsiblePass(b *testing.B) {
	ansible.Require(b)
	e := newEnv(b, "Site")
	e.write("watches.yaml", "- {group: "+e.group+", version: v1, kind: Site, role: site}\n")
	e.write("roles/site/tasks/main.yml", siteTasks)
	for name, text := range siteTemplates() {
		e.write("roles/site/templates/"+name+".yml.j2", text)
	}
	namespace := e.namespace("a")
	e.apply(fmt.Sprintf("{apiVersion: %s/v1, kind: Site, metadata: {namespace: %s, name: one}, spec: {size: 1}}", e.group, namespace))
	setLoggers(logr.Discard())
	settings := ansibleoperator.Settings{
		Environ: append(os.Environ(), "ANSIBLE_GATHERING=explicit"), Dir: e.dir, RunDirectory: b.TempDir(), MetricsAddress: "0",
	}
	reconcilers, err := ansibleoperator.LoadWatches(filepath.Join(e.dir, "watches.yaml"), settings, nil)
	if err != nil {
		b.Fatal(err)
	}
	o := managerOptions{metricsAddress: "0", probeAddress: "0", gracePeriod: time.Minute}
	mgr, err := o.newManager(e.config, logr.Discard())
	if err == nil {
		err = ansibleoperator.Setup(mgr, settings, reconcilers...)
	}
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		if err := mgr.Start(b.Context()); err != nil {
			b.Error(err)
		}
	}()
	e.eventually("the role has run", func() error {
		obj, err := e.get(e.group+"/v1", "Site", namespace, "one")
		if text := fmt.Sprint(obj.Object["status"]); err == nil && !strings.Contains(text, "Last reconciliation succeeded") {
			err = fmt.Errorf("status %s", text)
		}
		return err
	})
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: "one"}}
	byHand := e.runnerByHand(namespace)
	pass, hand := usage{name: "pass"}, usage{name: "by-hand"}
	for b.Loop() {
		pass.measure(b, func() error {
			_, err := reconcilers[0].Reconcile(b.Context(), request)
			return err
		})
		hand.measure(b, byHand)
	}
	b.ReportMetric(0, "ns/op") // the sum of both is of no interest
	pass.report(b)
	hand.report(b)
}

// usage is what calls of a function take.
type usage struct {
	name      string
	time, cpu []time.Duration
	// memory is the largest sum of the resident memory of the processes that a call started, in bytes.
	memory int
}

// report adds metrics to a benchmark.
func (u *usage) report(b *testing.B) {
	for unit, values := range map[string][]time.Duration{"-ms": u.time, "-cpu-ms": u.cpu} {
		slices.Sort(values)
		b.ReportMetric(float64(values[len(values)/2].Milliseconds()), u.name+unit)
	}
	b.ReportMetric(float64(u.memory>>20), u.name+"-MiB")
}

// runnerByHand returns a function that runs ansible-runner with the role site, as operator-sdk does.
func (e *env) runnerByHand(namespace string) func() error {
	e.Helper()
	e.write("hand/inventory/hosts", `localhost ansible_connection=local ansible_python_interpreter="{{ansible_playbook_python}}"`+"\n")
	e.write("hand/env/extravars", fmt.Sprintf(`{"size": 1, "ansible_operator_meta": {"name": "one", "namespace": %q}}`, namespace))
	kubeconfig := e.kubeconfig()
	return func() error {
		c := exec.Command("ansible-runner", "run", "hand", "--rotate-artifacts", "20", "--role", "site", "--roles-path", filepath.Join(e.dir, "roles"),
			"--hosts", "localhost", "--role-skip-facts", "-vv")
		c.Dir = e.dir
		c.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "K8S_AUTH_KUBECONFIG="+kubeconfig)
		out, err := c.CombinedOutput()
		if err == nil && !strings.Contains(string(out), "changed=0") {
			err = fmt.Errorf("the run changed objects:\n%s", out)
		}
		if err != nil {
			return fmt.Errorf("ansible-runner: %w\n%s", err, out)
		}
		return nil
	}
}

// measure calls a function.
func (u *usage) measure(b *testing.B, do func() error) {
	b.Helper()
	others := descendants(os.Getpid())
	done := make(chan struct{})
	peak := make(chan int)
	go func() {
		most := 0
		for {
			select {
			case <-done:
				peak <- most
				return
			case <-time.After(50 * time.Millisecond):
				sum := 0
				for _, pid := range descendants(os.Getpid()) {
					if !slices.Contains(others, pid) {
						sum += resident(pid)
					}
				}
				most = max(most, sum)
			}
		}
	}()
	start, cpu := time.Now(), cpuSeconds(b)+childSeconds(b)
	err := do()
	u.time = append(u.time, time.Since(start))
	u.cpu = append(u.cpu, time.Duration((cpuSeconds(b)+childSeconds(b)-cpu)*float64(time.Second)))
	close(done)
	u.memory = max(u.memory, <-peak)
	if err != nil {
		b.Fatal(err)
	}
}

// childSeconds returns the CPU time of the processes that this one has started and that have ended, with their children.
func childSeconds(b *testing.B) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// descendants returns the processes below a process.
func descendants(root int) (pids []int) {
	parents := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// The name of the program in parentheses may contain any character. The state and the parent follow.
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) // both are numbers
		parents[pid], _ = strconv.Atoi(fields[1])
	}
	for pid := range parents {
		for p := parents[pid]; p > 1; p = parents[p] {
			if p == root {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// resident returns the resident memory of a process in bytes, or 0 if it has ended.
func resident(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(data))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize()
}
