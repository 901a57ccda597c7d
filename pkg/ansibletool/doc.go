// Package ansibletool finds the Ansible of a machine: the programs ansible-playbook and ansible-runner, the Python packages and the
// collections that Ansible operators need, and what is missing.
package ansibletool
