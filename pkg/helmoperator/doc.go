// Package helmoperator reconciles custom resources by installing Helm charts: each resource is a release, and its spec are
// the values. It keeps the conventions of operator-sdk's helm-operator: annotations, finalizers, conditions and labels.
package helmoperator
