package runner_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
)

// BenchmarkRun measures a run without changes: with a task without a module, and with tasks of kubernetes.core, if KUBECONFIG is that
// of a cluster. It reports the processor time of all processes of a run.
func BenchmarkRun(b *testing.B) {
	kubeconfig, _ := os.ReadFile(os.Getenv("KUBECONFIG"))
	for _, cold := range []bool{true, false} {
		r, err := runner.New(runner.Config{Root: b.TempDir(), Dir: b.TempDir(), Environ: os.Environ(), Cold: cold})
		if err != nil {
			b.Fatal(err)
		}
		for _, modules := range []int{0, 1, 3} {
			if modules > 0 && len(kubeconfig) == 0 {
				continue
			}
			tasks := "- debug: {msg: hello}\n"
			for i := range modules {
				tasks += fmt.Sprintf("- kubernetes.core.k8s: {definition: {apiVersion: v1, kind: ConfigMap, metadata: {name: bench-%d, namespace: default}, data: {a: b}}}\n", i)
			}
			e := &env{dir: b.TempDir(), T: &testing.T{}}
			request := e.playbook("bench", tasks)
			request.Kubeconfig = kubeconfig
			run := func() {
				if result, err := r.Run(b.Context(), request); err != nil || result.Failed() {
					b.Fatalf("%+v, %v", result, err)
				}
			}
			name := fmt.Sprintf("modules=%d/warm=%t", modules, !cold)
			b.Run(name, func(b *testing.B) {
				run()
				before := childTime()
				b.ResetTimer()
				for range b.N {
					run()
				}
				if cold { // forks of the warm interpreter are not children of this process
					b.ReportMetric((childTime()-before).Seconds()/float64(b.N), "cpu-s/op")
				}
			})
		}
		if err := r.Close(); err != nil {
			b.Error(err)
		}
	}
}

// childTime returns the processor time of the children that have ended.
func childTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
