package scaffold

import (
	"reflect"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

func TestCompareFields(t *testing.T) {
	t.Parallel()
	const spoke = `package v1alpha1

type Thing struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec   ThingSpec
	Status *ThingStatus
	Old    string
}

type ThingSpec struct {
	Size, Port int32
	Phase      Phase
	Labels     map[string]string
	Pods       []Pod
	Other      []Other
	Renamed    string
	Inner      Inner
	hidden     int
}

type Phase string
type Pod struct{ Name string }
type Other struct{ A string }
type Inner struct {
	Same resource.Quantity
	Gone bool
}
type ThingStatus struct{ Ready bool }
`
	const hub = `package v1

type Thing struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec   ThingSpec
	Status *ThingStatus
}

type ThingSpec struct {
	// Size has a comment here.
	Size   int32
	Port   int64
	Phase  Phase
	Labels map[string]string
	Pods   []Pod
	Other  []Other
	Fresh  string
	Inner  Inner
}

type Phase string
type Pod struct{ Name string }
type Other struct{ B string }
type Inner struct {
	Same resource.Quantity
}
type ThingStatus struct{ Ready bool }
`
	tree := worktree.NewTree(afero.NewMemMapFs(), "/")
	tree.WriteFile("api/v1alpha1/thing_types.go", []byte(spoke), worktree.FileMode)
	tree.WriteFile("api/v1/thing_types.go", []byte(hub), worktree.FileMode)
	got, err := compareFields(tree, "api/v1alpha1", "api/v1", "Thing")
	if err != nil {
		t.Fatal(err)
	}
	want := ConvertedFields{
		Roots:     []string{"Spec", "Status"},
		Same:      []string{"Spec.Size", "Spec.Labels", "Spec.Inner.Same"},
		Reshaped:  []string{"Spec.Phase", "Spec.Pods", "Status"},
		OnlySpoke: []string{"Spec.Port", "Spec.Other", "Spec.Renamed", "Spec.Inner.Gone", "Old"},
		OnlyHub:   []string{"Spec.Port", "Spec.Other", "Spec.Fresh"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := compareFields(tree, "api/v1alpha1", "api/v1", "Nothing"); err == nil {
		t.Error("a kind without types passes")
	}
}
