package gokinds

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// TestResolveDeletedWebhooks checks which webhooks a deletion removes and keeps, and that all findings about its options are returned.
func TestResolveDeletedWebhooks(t *testing.T) {
	t.Parallel()
	config, err := project.Parse([]byte(`domain: example.com
layout:
- go.kubebuilder.io/v4
projectName: shop
repo: example.com/shop
resources:
- api: {crdVersion: v1, namespaced: true}
  domain: example.com
  group: store
  kind: Order
  path: example.com/shop/api/v1
  version: v1
  webhooks: {conversion: true, defaulting: true, defaultingPath: /d, spoke: [v2, v3]}
- api: {crdVersion: v1, namespaced: true}
  domain: example.com
  group: store
  kind: Order
  path: example.com/shop/api/v2
  version: v2
version: "3"
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		options DeleteWebhookOptions
		removed *project.Webhooks
		kept    *project.Webhooks
		fields  []string
	}{
		"all": {DeleteWebhookOptions{}, &project.Webhooks{Conversion: true, Defaulting: true, DefaultingPath: "/d", Spoke: []string{"v2", "v3"}}, nil, nil},
		"one kind": {DeleteWebhookOptions{Defaulting: true}, &project.Webhooks{Defaulting: true, DefaultingPath: "/d"},
			&project.Webhooks{Conversion: true, Spoke: []string{"v2", "v3"}}, nil},
		"the conversion": {DeleteWebhookOptions{Conversion: true}, &project.Webhooks{Conversion: true, DefaultingPath: "/d", Spoke: []string{"v2", "v3"}},
			&project.Webhooks{Defaulting: true, DefaultingPath: "/d", Spoke: []string{}}, nil},
		"one spoke": {DeleteWebhookOptions{Conversion: true, Spokes: []string{"v3"}}, &project.Webhooks{DefaultingPath: "/d", Spoke: []string{"v3"}},
			&project.Webhooks{Conversion: true, Defaulting: true, DefaultingPath: "/d", Spoke: []string{"v2"}}, nil},
		"the hub with its last spokes": {DeleteWebhookOptions{Conversion: true, Spokes: []string{"v3", "v2"}},
			&project.Webhooks{Conversion: true, DefaultingPath: "/d", Spoke: []string{"v3", "v2"}}, &project.Webhooks{Defaulting: true, DefaultingPath: "/d", Spoke: []string{}}, nil},
		"missing":                     {DeleteWebhookOptions{Validation: true}, nil, nil, []string{"--programmatic-validation"}},
		"spokes without conversion":   {DeleteWebhookOptions{Defaulting: true, Spokes: []string{"v2"}}, nil, nil, []string{"--spoke"}},
		"unknown spokes":              {DeleteWebhookOptions{Conversion: true, Spokes: []string{"v4", "v5"}}, nil, nil, []string{"--spoke", "--spoke"}},
		"a spoke has no own webhooks": {DeleteWebhookOptions{Version: "v2"}, nil, nil, []string{"--version"}},
	} {
		test.options.Kind = "Order"
		if test.options.Version == "" {
			test.options.Version = "v1"
		}
		r, err := test.options.resolve(config)
		findings, _ := errors.AsType[diag.Findings](err)
		var fields []string
		for _, f := range findings {
			fields = append(fields, f.Field)
		}
		if !slices.Equal(fields, test.fields) || err == nil && test.removed == nil {
			t.Errorf("%s: findings about %q, want %q: %v", name, fields, test.fields, err)
		}
		if test.removed == nil || err != nil {
			continue
		}
		if !reflect.DeepEqual(r.Webhooks, test.removed) {
			t.Errorf("%s: removes %+v, want %+v", name, r.Webhooks, test.removed)
		}
		all, _ := config.Resource(r.GVK)
		if kept := withoutWebhooks(*all.Webhooks, *r.Webhooks); !reflect.DeepEqual(kept, test.kept) {
			t.Errorf("%s: keeps %+v, want %+v", name, kept, test.kept)
		}
	}
}
