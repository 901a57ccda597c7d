// Package kube reads, applies, deletes and watches the objects of a Kubernetes cluster without Go types for them, so that it supports
// all versions of servers and all custom resources. Load and LoadPod return a Client. ExplainWorkload and PermanentFailure find out
// why a workload is not ready.
package kube
