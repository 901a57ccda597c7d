// Package controlplane runs a Kubernetes control plane on this machine: etcd and kube-apiserver as processes of the user, on free
// loopback ports, with their own certificates and temporary data. Ensure finds, downloads or builds the programs, Start runs them, and
// StartWorkloads adds controllers, a scheduler and a simulated node. SetupEnvtest is the command line of setup-envtest.
package controlplane
