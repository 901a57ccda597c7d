// Package ansiblekinds contains what commands do with kinds that are reconciled by Ansible roles and playbooks. It derives the CRD, the
// sample and the permissions of such a kind from the argument specs and the tasks of its role or playbook.
package ansiblekinds
