package rename

import (
	"errors"
	"slices"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// projectFile is PROJECT of a multigroup project with a kind in two versions, a kind with a webhook, and a core kind.
const projectFile = `domain: example.com
layout:
- go.kubebuilder.io/v4
multigroup: true
projectName: shop
repo: example.com/shop
resources:
- api: {crdVersion: v1, namespaced: true}
  controller: true
  domain: example.com
  group: store
  kind: Order
  path: example.com/shop/api/store/v1
  version: v1
- api: {crdVersion: v1, namespaced: true}
  domain: example.com
  group: store
  kind: Order
  path: example.com/shop/api/store/v2
  version: v2
- api: {crdVersion: v1, namespaced: true}
  controller: true
  domain: example.com
  group: billing
  kind: Invoice
  path: example.com/shop/api/billing/v1
  version: v1
  webhooks: {defaulting: true, webhookVersion: v1}
- controller: true
  core: true
  group: apps
  kind: Deployment
  path: k8s.io/api/apps/v1
  version: v1
version: "3"
`

func parse(t *testing.T) *project.Config {
	t.Helper()
	config, err := project.Parse([]byte(projectFile))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// TestResolve checks which resources a renaming changes, and that all findings about its names are returned.
func TestResolve(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options APIOptions
		// want are the new names, fields the flags with findings.
		want, fields []string
	}{
		"kind, completed": {APIOptions{From: project.GVK{Group: "billing"}, To: project.GVK{Kind: "Bill"}}, []string{"billing.example.com/v1 Bill"}, nil},
		"all versions of a kind": {APIOptions{From: project.GVK{Group: "store", Kind: "Order"}, To: project.GVK{Kind: "Purchase"}},
			[]string{"store.example.com/v1 Purchase", "store.example.com/v2 Purchase"}, nil},
		"a group": {APIOptions{From: project.GVK{Group: "store"}, To: project.GVK{Group: "shop"}},
			[]string{"shop.example.com/v1 Order", "shop.example.com/v2 Order"}, nil},
		"the domain, not of core kinds": {APIOptions{To: project.GVK{Domain: "example.org"}},
			[]string{"store.example.org/v1 Order", "store.example.org/v2 Order", "billing.example.org/v1 Invoice"}, nil},
		"ambiguous":      {APIOptions{To: project.GVK{Kind: "Purchase"}}, nil, []string{"--group", "--kind"}},
		"invalid names":  {APIOptions{To: project.GVK{Group: "Store", Version: "1", Kind: "order"}, Plural: "Orders"}, nil, []string{"--to-group", "--to-version", "--to-kind", "--to-plural"}},
		"same kind":      {APIOptions{From: project.GVK{Group: "billing"}, To: project.GVK{Kind: "Invoice"}}, nil, []string{"--to-kind"}},
		"taken":          {APIOptions{From: project.GVK{Group: "store", Version: "v1"}, To: project.GVK{Version: "v2"}}, nil, []string{"--to-version"}},
		"core":           {APIOptions{From: project.GVK{Group: "apps"}, To: project.GVK{Kind: "Job"}}, nil, []string{"--kind"}},
		"another domain": {APIOptions{From: project.GVK{Domain: "example.org"}, To: project.GVK{Kind: "X"}}, nil, []string{"--domain"}},
		"unknown":        {APIOptions{From: project.GVK{Group: "stor"}, To: project.GVK{Kind: "X"}}, nil, []string{"--group"}},
	} {
		renamed, err := test.options.resolve(parse(t))
		findings, _ := errors.AsType[diag.Findings](err)
		var got, fields []string
		for _, f := range findings {
			fields = append(fields, f.Field)
		}
		if err == nil {
			for _, r := range renamed.after {
				got = append(got, r.GVK.String())
			}
		}
		if !slices.Equal(got, test.want) || !slices.Equal(fields, test.fields) {
			t.Errorf("%s: got %q and findings about %q (%v), want %q and %q", name, got, fields, err, test.want, test.fields)
		}
	}
}

// TestPlan checks the directories, packages, aliases and CRDs that follow from a new group and a new module path.
func TestPlan(t *testing.T) {
	t.Parallel()
	p := action.Read(action.Config{FS: afero.NewMemMapFs(), Program: "operon"}, "/work/shop")
	p.Files.WriteFile("go.mod", []byte("module example.com/shop\n"), 0o644)
	before := parse(t)
	after, err := before.Copy()
	if err != nil {
		t.Fatal(err)
	}
	renamed, err := APIOptions{From: project.GVK{Group: "billing"}, To: project.GVK{Group: "money"}}.resolve(after)
	if err == nil {
		err = renamed.record(after)
	}
	if err == nil {
		err = after.SetRepo("example.com/market")
	}
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Plan(p, p.Files, before, after, "", []string{"config/crd/bases"})
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		"api/billing/v1": "api/money/v1", "internal/controller/billing": "internal/controller/money", "internal/webhook/billing/v1": "internal/webhook/money/v1",
	} {
		if plan.Dirs[from] != to {
			t.Errorf("%s moves to %q, want %s", from, plan.Dirs[from], to)
		}
	}
	if len(plan.Dirs) != 3 {
		t.Errorf("directories: %v", plan.Dirs)
	}
	if plan.Module != "example.com/market" || plan.Packages["internal/controller/billing"] != "money" || len(plan.APIs) != 1 || plan.Files != nil {
		t.Errorf("module %s, packages %v, APIs %v, files %v", plan.Module, plan.Packages, plan.APIs, plan.Files)
	}
	if want := []string{"config/crd/bases/billing.example.com_invoices.yaml"}; !slices.Equal(plan.Removed, want) {
		t.Errorf("removed: %v, want %v", plan.Removed, want)
	}
	if got := plan.Aliases["api/billing/v1"]; got != [2]string{"billingv1", "moneyv1"} {
		t.Errorf("aliases: %v", got)
	}
}
