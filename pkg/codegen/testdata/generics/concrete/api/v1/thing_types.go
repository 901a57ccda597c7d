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
	A OptionalString `json:"a"`
	// +listType=map
	// +listMapKey=name
	// +listMapKey=count
	B []OptionalValue  `json:"b,omitempty"`
	C *PairOptionalInt `json:"c"`
	// +mapType=atomic
	D             map[string]ListValue `json:"d"`
	OptionalValue `json:",inline"`
	E             Names          `json:"e"`
	F             Alias          `json:"f"`
	G             Tree           `json:"g"`
	H             string         `json:"h"`
	I             Set            `json:"i"`
	J             *OptionalValue `json:"j"`
	// K has a type of another package, with a type argument of this one.
	K []RefValue     `json:"k"`
	L common.RefRef  `json:"l"`
	M common.Quoted  `json:"m"`
	N common.Manual  `json:"n"`
	O *common.Manual `json:"o"`
	// +kubebuilder:validation:MaxLength=20
	P       Text     `json:"p"`
	Q       Literal  `json:"q"`
	R       *Literal `json:"r"`
	Private `json:",inline"`
	S       map[string]TextAlias `json:"s"`
	T       []*OptionalStrings   `json:"t"`
	U       [][]ListValue        `json:"u"`
	V       GenerationValue      `json:"v"`
	W       ListCondition        `json:"w"`
	X       Pointer              `json:"x"`
	Y       []Pointer            `json:"y"`
}

// Optional is optional.
// +kubebuilder:validation:MinProperties=1
type OptionalString struct {
	// Value is the value.
	// +optional
	Value *string `json:"value,omitempty"`
	// +kubebuilder:validation:Minimum=3
	Count int    `json:"count"`
	Name  string `json:"name"`
}

// Optional is optional.
// +kubebuilder:validation:MinProperties=1
type OptionalValue struct {
	// Value is the value.
	// +optional
	Value *Value `json:"value,omitempty"`
	// +kubebuilder:validation:Minimum=3
	Count int    `json:"count"`
	Name  string `json:"name"`
}

// Optional is optional.
// +kubebuilder:validation:MinProperties=1
type OptionalInt struct {
	// Value is the value.
	// +optional
	Value *int `json:"value,omitempty"`
	// +kubebuilder:validation:Minimum=3
	Count int    `json:"count"`
	Name  string `json:"name"`
}

// Optional is optional.
// +kubebuilder:validation:MinProperties=1
type OptionalOptionalInt struct {
	// Value is the value.
	// +optional
	Value *OptionalInt `json:"value,omitempty"`
	// +kubebuilder:validation:Minimum=3
	Count int    `json:"count"`
	Name  string `json:"name"`
}

// Optional is optional.
// +kubebuilder:validation:MinProperties=1
type OptionalStrings struct {
	// Value is the value.
	// +optional
	Value *[]string `json:"value,omitempty"`
	// +kubebuilder:validation:Minimum=3
	Count int    `json:"count"`
	Name  string `json:"name"`
}

// Value is a value.
type Value struct {
	X []string `json:"x"`
}

// Pair has two parameters.
type PairOptionalInt struct {
	Key string              `json:"key"`
	Val OptionalInt         `json:"val"`
	Opt OptionalOptionalInt `json:"opt"`
}

// Generation is defined as another generic type.
type GenerationValue PairValues

// Pair has two parameters.
type PairValues struct {
	Key string         `json:"key"`
	Val []Value        `json:"val"`
	Opt OptionalValues `json:"opt"`
}

// Optional is optional.
// +kubebuilder:validation:MinProperties=1
type OptionalValues struct {
	// Value is the value.
	// +optional
	Value *[]Value `json:"value,omitempty"`
	// +kubebuilder:validation:Minimum=3
	Count int    `json:"count"`
	Name  string `json:"name"`
}

// List is a list.
// +kubebuilder:validation:MaxItems=7
type ListValue []Value

// List is a list.
// +kubebuilder:validation:MaxItems=7
type ListString []string

// List is a list.
// +kubebuilder:validation:MaxItems=7
type ListCondition []metav1.Condition

// Names are names.
// +kubebuilder:validation:MinItems=1
type Names ListString

// Alias is an alias of a map.
// +kubebuilder:validation:MaxProperties=4
type Alias map[string]Value

// Key is a key.
type Key string

// Set is a generic alias.
type Set map[Key]Value

// Text is a string.
// +kubebuilder:validation:Pattern=`^a`
type Text string

// Literal is an alias of a struct.
type Literal struct {
	Z []string `json:"z"`
}

type Private struct {
	Secrets []string `json:"secrets"`
}

// Ref refers to an object of type T.
// +kubebuilder:validation:XValidation:rule="size(self.name) > 0",message="name must be set"
type RefValue struct {
	// Name is the name of the object.
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
	// Fallback is used if there is no such object.
	// +optional
	Fallback *Value `json:"fallback"`
	// Since is a time.
	// +optional
	Since metav1.Time `json:"since"`
	// Detail is nested.
	// +optional
	Detail *common.Detail `json:"detail"`
}

// Tree contains itself.
type Tree struct {
	Leaf Value `json:"leaf"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Children []Tree `json:"children"`
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
	Items           []Thing `json:"items"`
}

// TextAlias is an alias of a basic type.
type TextAlias = string

// Pointer is a pointer.
type Pointer *Value
