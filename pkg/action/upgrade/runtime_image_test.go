package upgrade

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestUpgradeBaseImage checks how operator-sdk's runtime in a Dockerfile is replaced, and which images stay.
func TestUpgradeBaseImage(t *testing.T) {
	t.Parallel()
	const copies = "\nCOPY watches.yaml ${HOME}/watches.yaml\n"
	const arg = "ARG HELM_OPERATOR_IMAGE=ghcr.io/operon-sdk/helm-operator:v1\n"
	const ansibleArg = "ARG ANSIBLE_OPERATOR_IMAGE=ghcr.io/operon-sdk/ansible-operator:v1\n"
	helm := runtimeImage{layout.Helm().Runtime, "ghcr.io/operon-sdk/helm-operator:v1"}
	ansible := runtimeImage{layout.Ansible().Runtime, "ghcr.io/operon-sdk/ansible-operator:v1"}
	for name, test := range map[string]struct {
		image           runtimeImage
		in, want, notes string
	}{
		"a release":  {helm, "# build\nFROM quay.io/operator-framework/helm-operator:v1.30.0" + copies, "# build\n" + arg + "FROM ${HELM_OPERATOR_IMAGE}" + copies, ""},
		"a digest":   {helm, "FROM quay.io/operator-framework/helm-operator@sha256:00" + copies, arg + "FROM ${HELM_OPERATOR_IMAGE}" + copies, ""},
		"a platform": {helm, "FROM --platform=linux/amd64 quay.io/operator-framework/helm-operator:v1" + copies, arg + "FROM --platform=linux/amd64 ${HELM_OPERATOR_IMAGE}" + copies, ""},
		"the last stage": {helm, "FROM golang AS b\nFROM quay.io/operator-framework/helm-operator:v1" + copies,
			arg + "FROM golang AS b\nFROM ${HELM_OPERATOR_IMAGE}" + copies, ""},
		"upgraded":           {helm, arg + "FROM ${HELM_OPERATOR_IMAGE}" + copies, "", ""},
		"another repository": {helm, "FROM registry.example.com/helm-operator:v1" + copies, "", "the base image is still registry.example.com/helm-operator:v1"},
		"a longer name":      {helm, "FROM quay.io/operator-framework/helm-operator-ubi:v1" + copies, "", "the base image is still quay.io"},
		"scaffolded steps": {ansible, "FROM quay.io/operator-framework/ansible-operator:v1.30.0\nRUN ansible-galaxy collection install -r ${HOME}/requirements.yml \\\n && chmod -R ug+rwx ${HOME}/.ansible\n",
			ansibleArg + "FROM ${ANSIBLE_OPERATOR_IMAGE}\nRUN ansible-galaxy collection install -r ${HOME}/requirements.yml \\\n && chmod -R ug+rwx ${HOME}/.ansible\n", ""},
		"own steps": {ansible, "# base\nFROM quay.io/operator-framework/ansible-operator:v1.30.0\nRUN dnf install -y jq\n",
			ansibleArg + "FROM ${ANSIBLE_OPERATOR_IMAGE} AS operon\n\n# base\nFROM quay.io/operator-framework/ansible-operator:v1.30.0\n" +
				"COPY --from=operon /usr/local/bin/ansible-operator /usr/local/bin/ansible-operator\nRUN dnf install -y jq\n", "for the RUN instructions after it"},
		"own steps, upgraded before": {ansible, "ARG ANSIBLE_OPERATOR_IMAGE=ghcr.io/operon-sdk/ansible-operator:v0\nFROM ${ANSIBLE_OPERATOR_IMAGE} AS operon\n\nFROM quay.io/operator-framework/ansible-operator:v1\n",
			ansibleArg + "FROM ${ANSIBLE_OPERATOR_IMAGE} AS operon\n\nFROM quay.io/operator-framework/ansible-operator:v1\n", ""},
		"own steps on an image without packages": {helm, "FROM quay.io/operator-framework/helm-operator:v1\nRUN true\n", arg + "FROM ${HELM_OPERATOR_IMAGE}\nRUN true\n", ""},
		"no stage":                               {helm, "# nothing\n", "", ""},
	} {
		tree := worktree.NewTree(afero.NewMemMapFs(), "/p")
		tree.WriteFile(dockerfile, []byte(test.in), worktree.FileMode)
		note, err := test.image.upgradeBaseImage(tree, map[string][]byte{})
		if err != nil {
			t.Fatal(err)
		}
		if test.want == "" {
			test.want = test.in
		}
		if got, _ := tree.ReadFile(dockerfile); string(got) != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, test.want)
		}
		if !strings.Contains(note, test.notes) || (note == "") != (test.notes == "") {
			t.Errorf("%s: note %q, want %q", name, note, test.notes)
		}
	}
}
