// Package kube reads, applies, deletes and watches the objects of a Kubernetes cluster without Go types for them, so that it supports
// all versions of servers and all custom resources. A Locator finds the user's cluster and returns a Client. ExplainWorkload and
// PermanentFailure find out why a workload is not ready.
package kube
