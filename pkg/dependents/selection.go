package dependents

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Selection is what one watch of Selections selects: an object by its name, so that a role can be limited to it, or all objects of a kind
// if custom resources name them. An empty namespace stands for the namespaces of the operator.
type Selection struct {
	schema.GroupVersionKind
	Namespace, Name string
}

// Selections are watches of objects that custom resources refer to, one for each Selection. They keep which objects exist, and their
// versions.
type Selections struct {
	options  Options
	run      func(*Watcher) error
	watchers map[Selection]*Watcher
}

// NewSelections returns watches with options, which must not have Reduce and FieldSelector. The function run runs a watch.
func NewSelections(options Options, run func(*Watcher) error) *Selections {
	// An annotation of kubectl contains what was applied.
	options.Reduce = func(obj *metav1.PartialObjectMetadata) {
		obj.Labels, obj.Annotations, obj.OwnerReferences, obj.Finalizers = nil, nil, nil, nil
	}
	return &Selections{options, run, map[Selection]*Watcher{}}
}

// Add adds a watch with a handler, unless there is one. Not concurrently with Get.
func (s *Selections) Add(selection Selection, handler Handler) error {
	if s.watchers[selection] != nil {
		return nil
	}
	options := s.options
	if selection.Namespace != "" {
		options.Namespaces = []string{selection.Namespace}
	}
	if selection.Name != "" {
		options.FieldSelector = "metadata.name=" + selection.Name
	}
	watcher, err := NewWatcher(options)
	if err != nil {
		return err
	}
	s.watchers[selection] = watcher
	watcher.Watch(selection.GroupVersionKind, handler)
	return s.run(watcher)
}

// Get returns the watch of a selection that was added.
func (s *Selections) Get(selection Selection) *Watcher { return s.watchers[selection] }
