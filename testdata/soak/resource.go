package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// A resource is what is expected of a custom resource.
type resource struct {
	name    string
	spec    spec
	good    spec // the last spec that doesn't fail
	deleted bool

	// identities are the UIDs of the objects that every spec has, and password is a random value, both since the first check.
	identities map[string]types.UID
	password   string
}

// clientTimeout is how long the program repeats its own requests, for which the API server may be restarting.
const clientTimeout = 2 * time.Minute

func (e *env) object(name string, s spec) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": s.fields()}}
	obj.SetAPIVersion(e.flavor.apiVersion())
	obj.SetKind(e.flavor.kind)
	obj.SetNamespace(e.namespace)
	obj.SetName(name)
	return obj
}

// create creates a custom resource.
func (e *env) create(ctx context.Context, name string, s spec) error {
	e.expected[name] = &resource{name: name, spec: s, good: s}
	return poll(ctx, clientTimeout, 100*time.Millisecond, func(ctx context.Context) error {
		err := e.plane.client.Create(ctx, e.object(name, s))
		if apierrors.IsAlreadyExists(err) {
			return nil // created by a request whose answer was lost
		}
		return err
	})
}

// update changes the spec of a custom resource.
func (e *env) update(ctx context.Context, name string, s spec) error {
	r := e.expected[name]
	r.spec = s
	if !s.Fail {
		r.good = s
	}
	return poll(ctx, clientTimeout, 100*time.Millisecond, func(ctx context.Context) error {
		return e.plane.client.Patch(ctx, e.object(name, s), client.Merge)
	})
}

// remove deletes a custom resource.
func (e *env) remove(ctx context.Context, name string) error {
	e.expected[name].deleted = true
	return poll(ctx, clientTimeout, 100*time.Millisecond, func(ctx context.Context) error {
		return client.IgnoreNotFound(e.plane.client.Delete(ctx, e.object(name, spec{})))
	})
}

// living returns the sorted names of resources that aren't deleted.
func (e *env) living() []string {
	var names []string
	for name, r := range e.expected {
		if !r.deleted {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// pick returns random names of resources that aren't deleted.
func (e *env) pick(n int) []string {
	names := e.living()
	e.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return slices.Clone(names[:min(n, len(names))])
}

// A problemList is an error that names problems.
type problemList []string

func (l problemList) Error() string {
	const most = 5
	text := strings.Join(l[:min(len(l), most)], "\n    ")
	if len(l) > most {
		text += fmt.Sprintf("\n    and %d more", len(l)-most)
	}
	return text
}

// check returns what differs from the expectations, as a problemList.
func (e *env) check(ctx context.Context) (*snapshot, error) {
	s, err := e.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	problems := problemList(s.strays(e.expected))
	for _, name := range slices.Sorted(maps.Keys(e.expected)) {
		for _, problem := range e.flavor.check(s, e.expected[name]) {
			problems = append(problems, name+": "+problem)
		}
	}
	if len(problems) > 0 {
		return s, problems
	}
	return s, nil
}

// verify waits until everything is as expected, and records violations of what must hold at all times. It returns the error of ctx only.
func (e *env) verify(ctx context.Context, what string, limit time.Duration) error {
	var s *snapshot
	err := poll(ctx, limit, 200*time.Millisecond, func(ctx context.Context) error {
		start := time.Now()
		var err error
		if s, err = e.check(ctx); err != nil {
			sleep(ctx, time.Since(start)) // the operator needs the processors, too
		}
		return err
	})
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	if err != nil {
		e.violatef("%s: not as expected after %s:\n    %v", what, limit, err)
		return nil
	}
	for _, r := range e.expected {
		e.compareIdentities(what, s, r)
	}
	for name, r := range e.expected {
		if r.deleted {
			delete(e.expected, name)
		}
	}
	return nil
}

// compareIdentities records objects that were created again, and a random password that has changed.
func (e *env) compareIdentities(what string, s *snapshot, r *resource) {
	if r.deleted {
		return
	}
	first := r.identities == nil
	if first {
		r.identities = map[string]types.UID{}
	}
	for key, obj := range s.objects[r.name] {
		if obj.GetName() != r.name {
			continue
		}
		if old, ok := r.identities[key]; ok && old != obj.GetUID() {
			e.violatef("%s: %s was created again", what, key)
		}
		r.identities[key] = obj.GetUID()
	}
	if secret := s.objects[r.name]["Secret "+r.name]; secret != nil {
		password, _, _ := unstructured.NestedString(secret.Object, "data", "password")
		if !first && password != r.password {
			e.violatef("%s: the random password of %s has changed", what, r.name)
		}
		r.password = password
	}
}

// createdTwice returns the objects that were created more than once, by the name that they share with their resource. Jobs of hooks and
// objects that come and go with the spec have other names.
func (e *env) createdTwice() map[string][]string {
	created := map[string]int{}
	twice := map[string][]string{}
	for _, w := range e.requests.written() {
		if !w.Created() || w.Namespace != e.namespace {
			continue
		}
		if created[w.Object()]++; created[w.Object()] == 2 {
			twice[w.Name] = append(twice[w.Name], w.Object())
		}
	}
	return twice
}

// isWriteOf returns a function that reports whether a request writes a resource, or an object or record that belongs to it. Events are
// written in the background, and don't count.
func (e *env) isWriteOf(name string) func(gateway.Request) bool {
	return func(r gateway.Request) bool {
		return r.IsWrite() && r.Namespace == e.namespace && r.Resource != "events" &&
			(r.Name == name || strings.HasPrefix(r.Name, name+"-") || strings.HasPrefix(r.Name, "sh.helm.release.v1."+name+".v"))
	}
}

// quiet records a violation if the operator continues to write while nothing changes: it must write nothing for a time d soon.
func (e *env) quiet(ctx context.Context, what string, d time.Duration) {
	err := poll(ctx, time.Minute, 0, func(ctx context.Context) error {
		before := len(e.requests.written())
		sleep(ctx, d)
		// Events are written in the background.
		writes := slices.DeleteFunc(e.restWrites(before), func(w gateway.Record) bool { return w.Resource == "events" })
		if len(writes) > 0 {
			return fmt.Errorf("%d writes in %s, such as %s", len(writes), d, writes[0])
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		e.violatef("%s: not at rest after a minute: %v", what, err)
	}
}

// restWrites returns the writes since the first n, except renewals of leases.
func (e *env) restWrites(n int) []gateway.Record {
	return slices.DeleteFunc(e.requests.written()[n:], func(w gateway.Record) bool { return w.Resource == "leases" })
}
