// Package node runs a real Kubernetes node on this machine: a control plane with containerd, kubelet and
// kube-proxy, a registry that containerd finds every image in, and
// network policies that are enforced.
//
// All of it lives in process, mount, network, IPC and host name namespaces of its own. When the first process in
// them dies, the system ends the others and drops their mounts, network devices and packet filter rules; what
// remains are a folder and control groups, which Stop, or the Start after a kill, removes. It needs Linux and root.
package node
