package scenario

import (
	"slices"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// Dir is the directory of scenarios in a project.
const Dir = "test/operon"

// A Scenario is a sequence of steps in a namespace.
type Scenario struct {
	// Name is the name of its directory.
	Name string
	// Namespace is where objects are that don't name another one.
	Namespace string
	// Alone means that no other scenario may be performed at the same time.
	Alone bool
	Steps []Step
}

// A Step is a sequence of operations. Finally are those that follow in any case.
type Step struct {
	// Name is the name of the file or of the step, such as 00-install.
	Name         string
	Try, Finally []Operation
}

// A Verb says what an operation does.
type Verb string

// The verbs of operations.
const (
	Apply  Verb = "apply"
	Create Verb = "create"
	Update Verb = "update"
	Patch  Verb = "patch"
	Delete Verb = "delete"
	Assert Verb = "assert"
	Error  Verb = "error"
	Wait   Verb = "wait"
	Sleep  Verb = "sleep"
)

// Supported returns the verbs.
func Supported() []Verb {
	return []Verb{Apply, Create, Update, Patch, Delete, Assert, Error, Wait, Sleep}
}

// An Operation is one thing to do or to check.
type Operation struct {
	diag.Position
	Verb Verb
	// Objects are what to change or to look for. Without a name, Delete, Assert, Error and Wait mean all objects of the kind with the
	// labels.
	Objects []Object
	// Refused reports whether the API server must refuse the change.
	Refused bool
	// For is what Wait waits for.
	For For
	// Timeout is how long to wait, and of Sleep how long it takes.
	Timeout time.Duration
}

// An Object is an object at a place in a file, or some of its fields.
type Object struct {
	*kube.Object
	diag.Position
}

// For is what Wait waits for: a condition, a value, or the deletion.
type For struct {
	Deletion bool
	// Condition is the type of a condition, and Path leads to a value. One of them is empty.
	Condition string
	Path      []any
	// Value is what the status of the condition, or the value, must be. Empty means that any value will do.
	Value string
}

// Objects returns the objects that the scenario changes or looks for.
func (s *Scenario) Objects() (objects []*kube.Object) {
	for _, step := range s.Steps {
		for _, operation := range slices.Concat(step.Try, step.Finally) {
			for _, object := range operation.Objects {
				objects = append(objects, object.Object)
			}
		}
	}
	return objects
}
