package layout

import "sync"

// Ansible returns the layout of operators that run Ansible roles and playbooks.
func Ansible() *Facts { return ansibleFacts() }

var ansibleFacts = sync.OnceValue(func() *Facts {
	terms := Terms{
		"an Ansible project", "an Ansible operator", "a kind with a role or playbook", "the kinds of an Ansible project",
		"the objects of a kind are created by its role or playbook",
	}
	return &Facts{
		Name: "Ansible", Keys: []string{"ansible/v1", keyAnsible, "ansible", "ansible.sdk.operatorframework.io"}, Templates: "ansible",
		Runtime: &Runtime{
			Command: "ansible-operator", Flags: []string{"metrics-bind-address", "health-probe-bind-address", "run-directory"}, Ansible: true,
			Repository: "ghcr.io/operon-sdk/ansible-operator", Argument: "ANSIBLE_OPERATOR_IMAGE",
			SDKImage: "quay.io/operator-framework/ansible-operator", Program: "/usr/local/bin/ansible-operator", Packages: true,
			Sources: "the roles and playbooks", User: "ansible", Home: "/opt/ansible",
			// The base has Python, Ansible and the Python packages of the collections.
			Base: "quay.io/operator-framework/ansible-operator:v1.42.3",
		},
		Tool: "operator-sdk", Fingerprints: "ansible/v1", Check: "make verify", AfterRename: "%s bundle",
		Unsupported:  "this command is for Go projects, and Ansible projects have no Go code",
		NoWebhooks:   noWebhooks("Ansible", "meta/argument_specs.yml of the role"),
		NoModule:     "Ansible projects have no Go module",
		NoCharts:     "Ansible projects have no charts, but roles and playbooks",
		NoRescaffold: noRescaffold,
		FirstKind:    append(kindFlags(), runFlags()...),
		Refused: []Refusal{
			terms.GoFlags(),
			{Commands: []string{initCommand, createAPI}, Problem: onlyHelm, Reasons: reasons(
				"the kinds of an Ansible project have roles or playbooks; to install a chart, call kubernetes.core.helm in one", chartFlags()...)},
		},
	}
})
