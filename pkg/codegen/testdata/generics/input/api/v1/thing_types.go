// Package v1 is a version.
// +kubebuilder:object:generate=true
// +groupName=bare.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/groupless/pkg/common"
)

// ThingSpec is.
type ThingSpec struct {
	// A is documented.
	// +optional
	A Optional[string] `json:"a"`
	// +listType=map
	// +listMapKey=name
	// +listMapKey=count
	B []Optional[Value]            `json:"b,omitempty"`
	C *Pair[string, Optional[int]] `json:"c"`
	// +mapType=atomic
	D               map[string]List[Value] `json:"d"`
	Optional[Value] `json:",inline"`
	E               Names       `json:"e"`
	F               Alias       `json:"f"`
	G               Tree[Value] `json:"g"`
	H               (string)    `json:"h"`
	I               Set[Key]    `json:"i"`
	J               *Short      `json:"j"`
	// K has a type of another package, with a type argument of this one.
	K []common.Ref[Value]                     `json:"k"`
	L common.Ref[common.Ref[metav1.Duration]] `json:"l"`
	M common.Quoted[[]string]                 `json:"m"`
	N common.Manual[string]                   `json:"n"`
	O *common.Manual[string]                  `json:"o"`
	// +kubebuilder:validation:MaxLength=20
	P       Text[int] `json:"p"`
	Q       Literal   `json:"q"`
	R       *Literal  `json:"r"`
	private `json:",inline"`
	S       map[TextAlias]TextAlias `json:"s"`
	T       []*Optional[[]string]   `json:"t"`
	U       [][]List[*Value]        `json:"u"`
	V       Generation[Value]       `json:"v"`
	W       Conditions              `json:"w"`
	X       Pointer                 `json:"x"`
	Y       []Pointer               `json:"y"`
}

// Optional is optional.
// +kubebuilder:validation:MinProperties=1
type Optional[T any] struct {
	// Value is the value.
	// +optional
	Value *T `json:"value,omitempty"`
	// +kubebuilder:validation:Minimum=3
	Count int    `json:"count"`
	Name  string `json:"name"`
}

// Value is a value.
type Value struct {
	X []string `json:"x"`
}

// Pair has two parameters.
type Pair[K comparable, W any] struct {
	Key K           `json:"key"`
	Val W           `json:"val"`
	Opt Optional[W] `json:"opt"`
}

// List is a list.
// +kubebuilder:validation:MaxItems=7
type List[T any] []T

// Names are names.
// +kubebuilder:validation:MinItems=1
type Names List[string]

// Short is an alias.
type Short = Optional[Value]

// Alias is an alias of a map.
// +kubebuilder:validation:MaxProperties=4
type Alias = map[string]Value

// Key is a key.
type Key string

// TextAlias is an alias of a basic type.
type TextAlias = string

// Set is a generic alias.
type Set[T ~string] = map[T]Value

// Text is a string.
// +kubebuilder:validation:Pattern=`^a`
type Text[T any] string

// Generation is defined as another generic type.
type Generation[T any] Pair[string, []T]

// Conditions are a list of a generic alias.
type Conditions = List[metav1.Condition]

// Literal is an alias of a struct.
type Literal = struct {
	Z []string `json:"z"`
}

type private struct {
	Secrets []string `json:"secrets"`
}

// Tree contains itself.
type Tree[T any] struct {
	Leaf T `json:"leaf"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Children []Tree[T] `json:"children"`
}

// Pointer is a pointer.
type Pointer *Value

// Left and Right contain each other.
type Left []Right

// Right is a map.
type Right map[string]Left

// Nested contains itself.
type Nested []Nested

// Generic is no kind, although it has the fields of one.
type Generic[T any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              T `json:"spec"`
}

// +kubebuilder:object:root=true

// Thing is.
type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ThingSpec `json:"spec"`
}

// +kubebuilder:object:root=true

// ThingList is a list.
type ThingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           List[Thing] `json:"items"`
}
