package clitest

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

// ControlPlaneAssets finds or builds etcd, kube-apiserver and kubectl, once per test binary.
var ControlPlaneAssets = sync.OnceValues(func() (controlplane.Assets, error) {
	options := controlplane.DefaultOptions(os.Environ())
	options.Parts = []string{controlplane.Etcd, controlplane.KubeAPIServer, controlplane.Kubectl}
	options.Progress = func(message string) { fmt.Fprintln(os.Stderr, message) }
	return controlplane.Ensure(context.Background(), options)
})

// WorkloadAssets finds or builds the control plane of run local, once per test binary and outside of the time limit of a
// test.
var WorkloadAssets = sync.OnceValues(func() (controlplane.Assets, error) {
	options := controlplane.DefaultOptions(os.Environ())
	options.Parts, options.NoDownload = controlplane.WorkloadParts(), true
	options.KubebuilderAssets = ""
	options.Progress = func(message string) { fmt.Fprintln(os.Stderr, message) }
	return controlplane.Ensure(context.Background(), options)
})
