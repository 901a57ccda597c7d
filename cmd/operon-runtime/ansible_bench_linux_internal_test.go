//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
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
// processes that either needs, with the interpreter that the operator keeps. The CPU time includes this process, with the proxy;
// the memory does not.
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
	before := descendants(os.Getpid())
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
	pass, hand := usage{name: "pass", others: before}, usage{name: "by-hand"}
	for b.Loop() {
		hand.others = descendants(os.Getpid()) // with the interpreter that waits for passes
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
	// others are processes that do not count, such as the control plane's.
	others []int
	// resident and share are the largest sums of the memory of the processes during a call, as of memoryOf.
	resident, share int
}

// report adds metrics to a benchmark.
func (u *usage) report(b *testing.B) {
	for unit, values := range map[string][]time.Duration{"-ms": u.time, "-cpu-ms": u.cpu} {
		slices.Sort(values)
		b.ReportMetric(float64(values[len(values)/2].Milliseconds()), u.name+unit)
	}
	b.ReportMetric(float64(u.resident>>20), u.name+"-RSS-MiB")
	b.ReportMetric(float64(u.share>>20), u.name+"-PSS-MiB")
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
	done := make(chan struct{})
	var sampling sync.WaitGroup
	sampling.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
				residents, shares := 0, 0
				for _, pid := range descendants(os.Getpid()) {
					if !slices.Contains(u.others, pid) {
						resident, share := memoryOf(pid)
						residents, shares = residents+resident, shares+share
					}
				}
				u.resident, u.share = max(u.resident, residents), max(u.share, shares)
			}
		}
	})
	start, cpu := time.Now(), u.seconds(b)
	err := do()
	u.time = append(u.time, time.Since(start))
	u.cpu = append(u.cpu, time.Duration((u.seconds(b)-cpu)*float64(time.Second)))
	close(done)
	sampling.Wait()
	if err != nil {
		b.Fatal(err)
	}
}

// seconds returns the CPU time of this process, of its children that have ended, and of all processes below it that count.
func (u *usage) seconds(b *testing.B) float64 {
	b.Helper()
	var ended syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &ended); err != nil {
		b.Fatal(err)
	}
	sum := cpuSeconds(b) + time.Duration(ended.Utime.Nano()+ended.Stime.Nano()).Seconds()
	for _, pid := range descendants(os.Getpid()) {
		if fields := statFields(pid); !slices.Contains(u.others, pid) && len(fields) > 14 {
			for _, ticks := range fields[11:15] { // user and system time of the process and of its children that have ended
				n, _ := strconv.Atoi(ticks) // the kernel writes numbers
				sum += float64(n) / 100
			}
		}
	}
	return sum
}

// statFields returns the fields of /proc/PID/stat that follow the name of the program: the state, the parent and so on; none if the process has ended.
func statFields(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:])) // the name may contain any character
}

// descendants returns the processes below a process.
func descendants(root int) (pids []int) {
	parents := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) // the pattern matches only numbers
		if fields := statFields(pid); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
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

// memoryOf returns the resident memory of a process in bytes, and its share of it: pages of several processes are divided by their
// number, such as an interpreter's and its forks'. Both are 0 if the process has ended.
func memoryOf(pid int) (resident, share int) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // an error means that it has ended
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		for name, into := range map[string]*int{"Rss:": &resident, "Pss:": &share} {
			if len(fields) > 1 && fields[0] == name {
				kilobytes, _ := strconv.Atoi(fields[1]) // the kernel writes a number
				*into = kilobytes << 10
			}
		}
	}
	return resident, share
}
