package customresource_test

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
)

func TestIsResponsible(t *testing.T) {
	t.Parallel()
	const finalizer = "example.com/finalizer"
	isFinalizer := func(name string) bool { return name == finalizer }
	shard := map[string]string{"shard": "a"}
	for name, test := range map[string]struct {
		labels         map[string]string
		live, released bool   // has no deletion, has no finalizer
		record         string // empty for none
		everything     bool   // no selector
		want           bool
		logged         string
	}{
		"selected":                               {labels: shard, live: true, want: true},
		"excluded":                               {live: true},
		"excluded, taken over":                   {live: true, record: "ns/op: shard=a"},
		"selected, taken over by another":        {labels: shard, live: true, record: "ns/other: shard=b", want: true},
		"deleted, selected, no record":           {labels: shard, want: true},
		"deleted, excluded, no record":           {logged: "excludes it"},
		"deleted, excluded, without finalizer":   {released: true},
		"deleted, excluded, taken over":          {record: "ns/op: shard=a", want: true},
		"deleted, excluded, before a renaming":   {record: "ns/old: shard=a", want: true},
		"deleted, excluded, local operator":      {record: "unnamed: shard=a", want: true},
		"deleted, excluded, before a selector":   {record: "ns/op:", want: true},
		"deleted, excluded, another selector":    {record: "ns/op: shard=z", want: true},
		"deleted, excluded, taken by another":    {record: "ns/other: shard=b"},
		"deleted, excluded, unnamed other":       {record: "unnamed: shard=b"},
		"deleted, excluded, name in another":     {record: "other/op: shard=b"},
		"deleted, selected, taken by another":    {labels: shard, record: "ns/other: shard=b", logged: "that has taken it over"},
		"deleted, no selector, taken by another": {record: "ns/other: shard=b", everything: true, want: true},
	} {
		var log []string
		kind := customresource.NewKind(0, "example.com/operator")
		kind.Log = funcr.New(func(_, args string) { log = append(log, args) }, funcr.Options{})
		if !test.everything {
			if err := kind.SetSelector(metav1.LabelSelector{MatchLabels: shard}); err != nil {
				t.Fatal(err)
			}
		}
		if err := kind.SetOperator("ns/op"); err != nil {
			t.Fatal(err)
		}
		obj := &unstructured.Unstructured{}
		obj.SetUID("1")
		obj.SetName("one")
		obj.SetLabels(test.labels)
		if test.record != "" {
			obj.SetAnnotations(map[string]string{"example.com/operator": test.record})
		}
		if !test.released {
			obj.SetFinalizers([]string{finalizer})
		}
		if !test.live {
			now := metav1.Now()
			obj.SetDeletionTimestamp(&now)
		}
		for range 2 {
			if got := kind.IsResponsible(obj, isFinalizer); got != test.want {
				t.Errorf("%s: %t", name, got)
			}
		}
		if want := min(1, len(test.logged)); len(log) != want || !strings.Contains(strings.Join(log, ""), test.logged) {
			t.Errorf("%s: log %q", name, log)
		}
	}
}
