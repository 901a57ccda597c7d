//go:build unix

package olm

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// accountDeleted makes pods' tokens worthless, which install must notice.
func (c *olmCluster) accountDeleted(t *testing.T) {
	pods := func() map[string]string {
		pods, err := c.Client.List(t.Context(), kube.Resource{APIVersion: "v1", Name: "pods", Kind: "Pod"}, "olm",
			url.Values{"fieldSelector": {"spec.serviceAccountName=olm-operator-serviceaccount"}})
		if err != nil {
			t.Fatal(err)
		}
		made := map[string]string{}
		for _, pod := range pods {
			made[kube.FullName(pod)] = pod.GetCreationTimestamp().UTC().Format(time.RFC3339)
		}
		return made
	}
	old := pods()
	if len(old) < 2 {
		t.Fatalf("too few pods run as the account: %v", old)
	}
	c.Try(t, func() error { // the cluster records times to the second
		for name, made := range old {
			if made >= time.Now().UTC().Format(time.RFC3339) {
				return fmt.Errorf("%s is made in the future, %s", name, made)
			}
		}
		return nil
	})
	c.Delete(t, "v1", "ServiceAccount", "olm", "olm-operator-serviceaccount")
	_, errOut := c.must(t, 0, "install")
	clitest.CheckContains(t, errOut, "created serviceaccount olm/olm-operator-serviceaccount", "unchanged deployment olm/olm-operator", "unchanged deployment olm/catalog-operator")
	for name := range old {
		clitest.CheckContains(t, errOut, "restarted "+name+", which is older than serviceaccount olm/olm-operator-serviceaccount\n")
	}
	if _, errOut = c.must(t, 0, "status"); strings.Contains(errOut, "differs") {
		t.Error(errOut)
	}
	account := c.Get(t, "v1", "ServiceAccount", "olm", "olm-operator-serviceaccount").GetCreationTimestamp().UTC().Format(time.RFC3339)
	for name, made := range pods() {
		if made < account {
			t.Errorf("%s has a token of a removed account: %s, %s", name, made, account)
		}
	}
	if _, errOut = c.must(t, 0, "install"); strings.Contains(errOut, "restarted") {
		t.Error(errOut)
	}
}

// definitionsHeld uninstalls OLM while another client creates a resource that is not removed, and that blocks the deletion of a definition.
func (c *olmCluster) definitionsHeld(t *testing.T) {
	const held, late = "catalogsources.operators.coreos.com", "operators.operators.coreos.com"
	c.ensureNamespace(t, "operators")
	c.Patch(t, kube.Named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", held), "",
		`{"metadata":{"finalizers":["customresourcecleanup.apiextensions.k8s.io","example.com/never"]}}`)
	output, err := c.uninstallUntil(t, "deleted customresourcedefinition "+late, func(message string) {
		if strings.HasPrefix(message, "deleted namespace ") { // after OLM's resources are removed
			c.Apply(t, `{apiVersion: operators.coreos.com/v1, kind: Operator, metadata: {name: late, finalizers: [example.com/wait]}}`)
		}
	})
	clitest.CheckContains(t, output, "deleted namespace operators\n", "removing the finalizer example.com/wait of operator late, which its controller does not remove\n", "waiting for the deletion of customresourcedefinition "+held+"\n")
	clitest.CheckContains(t, fmt.Sprint(err), "customresourcedefinition "+held+" was not deleted: that is enough\n",
		"\n  no resources of it remain\n  its finalizer example.com/never is not removed; remove it with 'kubectl edit' of the customresourcedefinition; uninstall again")
	crd := c.Get(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", held)
	if crd.GetAnnotations()["operon/removal"] == "" {
		t.Error("the cluster was not made to look again")
	}
	c.Patch(t, crd, "", `{"metadata":{"finalizers":null}}`)
}

// definitionDeleted checks that install reports why it cannot begin.
func (c *olmCluster) definitionDeleted(t *testing.T) {
	c.Apply(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: operators.operators.coreos.com}, spec: {group: operators.coreos.com,
scope: Cluster, names: {plural: operators, singular: operator, kind: Operator}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`)
	c.Apply(t, `{apiVersion: operators.coreos.com/v1, kind: Operator, metadata: {name: left, finalizers: [example.com/wait]}}`)
	c.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "operators.operators.coreos.com")
	release, err := olm.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	err = olm.Install(ctx, olm.InstallOptions{Client: c.Client, Release: release, Namespace: olm.DefaultNamespace, Reporter: olm.Reporter{Progress: func(e olm.Event) {
		if e.Message == "waiting for customresourcedefinition operators.operators.coreos.com, which is being deleted" {
			cancel(errors.New("that is enough"))
		}
	}}})
	clitest.CheckContains(t, fmt.Sprint(err), "customresourcedefinition operators.operators.coreos.com has been terminating since", "still exists (that is enough)\n",
		"\n  remaining resources: left (finalizers example.com/wait)\n'operon olm uninstall' removes what delays it")
}

// ensureNamespace makes a namespace, also where Kubernetes has yet to complete an earlier deletion of it.
func (c *olmCluster) ensureNamespace(t *testing.T, name string) {
	t.Helper()
	c.Try(t, func() error {
		if live := c.Get(t, "v1", "Namespace", "", name); live != nil && live.GetDeletionTimestamp() != nil {
			return fmt.Errorf("namespace %s is still being deleted", name)
		}
		return nil
	})
	c.Apply(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
}

// uninstallUntil uninstalls until the message done, passes each message to listen and returns all of them.
func (c *olmCluster) uninstallUntil(t *testing.T, done string, listen func(message string)) (output string, err error) {
	t.Helper()
	found, err := olm.Find(c.Context(), c.Client, olm.DefaultNamespace)
	if err != nil {
		t.Fatal(err)
	}
	data, err := olm.Inventory(c.Context(), c.Client, found)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	err = olm.Uninstall(ctx, olm.UninstallOptions{Client: c.Client, Found: found, Data: data, Grace: 5 * time.Second, Reporter: olm.Reporter{Progress: func(e olm.Event) {
		output += e.Message + "\n"
		if listen(e.Message); e.Message == done {
			cancel(errors.New("that is enough"))
		}
	}}})
	return output, err
}
