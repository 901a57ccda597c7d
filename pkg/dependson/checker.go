package dependson

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/dependents"
)

// A Checker checks the dependencies of the custom resources of one kind. A nil Checker has no dependencies.
type Checker struct {
	watcher      *Watcher
	kind         schema.GroupKind
	dependencies []Dependency
	notify       func(types.NamespacedName)
}

// A Wait is the error of a pass that must wait for dependencies. It names all that are not ready, with the reason, and a cycle if the
// resource waits for itself.
type Wait struct {
	problems []string
	cycle    []node
	// Begins is set if the resource didn't wait before, as far as this process knows.
	Begins bool
}

func (w *Wait) Error() string {
	text := "dependsOn: " + strings.Join(w.problems, "; ")
	switch path := w.cycle; {
	case len(path) == 1:
		text += "; the resource depends on itself, and waits forever unless that changes"
	case len(path) > 1:
		var names []string
		for _, n := range append(path, path[0]) {
			names = append(names, n.String())
		}
		text += "; these resources wait for each other, forever unless a dependency changes: " + strings.Join(names, " → ")
	}
	return text
}

// A node is a custom resource or dependency, whatever its version.
type node struct {
	schema.GroupKind
	types.NamespacedName
}

func (n node) String() string { return object{n.WithVersion(""), n.NamespacedName}.String() }

// A wait is a resource that waits.
type wait struct {
	checker *Checker
	key     types.NamespacedName
	// states are the objects that it waits for, in the order of objects. cyclic is set if its message contains a cycle.
	states  map[object]state
	objects []object
	cyclic  bool
}

func (w *wait) node() node { return node{w.checker.kind, w.key} }

// notify starts a pass of the resource.
func (w *wait) notify() { w.checker.notify(w.key) }

// Check returns a *Wait if a dependency of a custom resource isn't ready; the resource is notified when that changes. Other errors are
// failures to find out.
func (c *Checker) Check(ctx context.Context, resource *unstructured.Unstructured) error {
	if c == nil {
		return nil
	}
	w := c.watcher
	current := &wait{checker: c, key: client.ObjectKeyFromObject(resource), states: map[object]state{}}
	before := w.begin(current)
	var problems []string
	for _, d := range c.dependencies {
		objects, p := d.objects(resource, w.mapper)
		if p.text != "" && !(p.missing && d.Optional) {
			problems = append(problems, p.text)
		}
		for _, o := range objects {
			w.tell(current, o, "")
			s, known := before.states[o]
			if !known || !w.isCurrent(d.selection(), o, s) {
				var err error
				if s, err = w.read(ctx, o); err != nil {
					w.untell(current, o)
					w.end(current, before)
					return err
				}
			}
			if s.text == "" || s.missing && d.Optional {
				w.untell(current, o)
				continue
			}
			w.tell(current, o, s.text)
			if _, repeated := current.states[o]; !repeated {
				current.states[o], current.objects = s, append(current.objects, o)
				problems = append(problems, o.String()+" "+s.text)
			}
		}
	}
	if len(problems) == 0 {
		w.end(current, before)
		return nil
	}
	cycle := w.set(current, before)
	return &Wait{problems: problems, cycle: cycle, Begins: before.checker == nil}
}

// Drop ends the wait of a custom resource that is deleted, paused or left to another operator.
func (c *Checker) Drop(key types.NamespacedName) {
	if c == nil {
		return
	}
	gone := &wait{checker: c, key: key}
	c.watcher.end(gone, c.watcher.begin(gone))
}

// begin returns what is known of a resource that maybe waits already.
func (w *Watcher) begin(current *wait) *wait {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before := w.waits[current.node()]; before != nil {
		return before
	}
	return &wait{}
}

// tell remembers what a resource knows of an object.
func (w *Watcher) tell(current *wait, o object, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told[o] == nil {
		w.told[o] = map[*wait]string{}
	}
	w.told[o][current] = text
}

func (w *Watcher) untell(current *wait, o object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(current, o)
}

// forget removes what a resource knows of an object. The caller has locked w.mu.
func (w *Watcher) forget(known *wait, o object) {
	delete(w.told[o], known)
	if len(w.told[o]) == 0 {
		delete(w.told, o)
	}
}

// end ends the wait of a resource.
func (w *Watcher) end(current, before *wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, known := range []*wait{current, before} {
		for o := range known.states {
			w.forget(known, o)
		}
	}
	wasCyclic := w.cycle(current.node()) != nil
	if delete(w.waits, current.node()); wasCyclic {
		w.updateCycles(current)
	}
}

// set begins or continues the wait of a resource, and returns its cycle.
func (w *Watcher) set(current, before *wait) []node {
	w.mu.Lock()
	defer w.mu.Unlock()
	for o := range before.states {
		w.forget(before, o)
	}
	wasCyclic := w.cycle(current.node()) != nil
	w.waits[current.node()] = current
	cycle := w.cycle(current.node())
	current.cyclic = cycle != nil
	if current.cyclic || wasCyclic {
		w.updateCycles(current)
	}
	return cycle
}

// updateCycles notifies other resources that are now in a cycle, or no longer, after the dependencies of one have changed.
func (w *Watcher) updateCycles(changed *wait) {
	for n, other := range w.waits {
		if other != changed && other.cyclic != (w.cycle(n) != nil) {
			other.notify()
		}
	}
}

// cycle returns the path of resources that wait for each other from one to itself, or nil. The caller has locked w.mu.
func (w *Watcher) cycle(start node) []node {
	seen := map[node]bool{}
	var find func(n node) []node
	find = func(n node) []node {
		seen[n] = true
		waiting := w.waits[n]
		if waiting == nil {
			return nil
		}
		for _, o := range waiting.objects {
			next := node{o.GroupKind(), o.NamespacedName}
			if next == start {
				return []node{n}
			}
			if seen[next] {
				continue
			}
			if path := find(next); path != nil {
				return append([]node{n}, path...)
			}
		}
		return nil
	}
	return find(start)
}

// isCurrent reports whether a watch confirms that an object still is in a state.
func (w *Watcher) isCurrent(selected dependents.Selection, o object, s state) bool {
	watcher := w.watches.Get(selected)
	if !watcher.IsLive(o.GroupVersionKind, o.Namespace) {
		return false
	}
	found, known := watcher.Get(o.GroupVersionKind, o.NamespacedName)
	return known && (found == nil && s.version == "" || found != nil && found.ResourceVersion == s.version)
}
