// Package controlplane gives tests and `run local` a real Kubernetes control plane on this machine:
// etcd and kube-apiserver as processes of the user, on loopback ports that are free, with certificates
// and a token of their own, and with data that is gone when they are stopped.
//
// Ensure finds the programs, or downloads or builds them; Start runs them; SetupEnvtest serves the
// command line of setup-envtest on top of Ensure, so that generated projects need no such tool.
package controlplane
