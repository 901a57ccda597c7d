// Package ansiblerole derives the parts of an operator from Ansible roles and playbooks: the rules of the manager's role from
// the tasks and the templates of Kubernetes objects, and the schema and the sample of a kind from the argument specifications of
// a role. It neither runs Ansible nor connects to a cluster.
package ansiblerole
