package behavior

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/scenario"
)

// scenarios performs those scenarios that can disturb others one after the other, and then the rest at the same time.
func (r *run) scenarios(ctx context.Context) error {
	var together []*scenario.Scenario
	for _, s := range r.o.Scenarios {
		confined, err := r.isConfined(ctx, s)
		if err != nil {
			return err
		}
		if confined {
			together = append(together, s)
			continue
		}
		if err := r.scenario(ctx, s); err != nil {
			return err
		}
	}
	switch len(together) {
	case 0:
		return nil
	case 1:
		return r.scenario(ctx, together[0])
	}
	return r.together(ctx, together)
}

// isConfined reports whether a scenario only has to do with objects in a namespace that no other scenario has.
func (r *run) isConfined(ctx context.Context, s *scenario.Scenario) (bool, error) {
	isOther := func(other *scenario.Scenario) bool { return other != s && other.Namespace == s.Namespace }
	if s.Alone || slices.ContainsFunc(r.o.Scenarios, isOther) {
		return false, nil
	}
	for _, o := range s.Objects() {
		if namespace := o.GetNamespace(); namespace != "" && namespace != s.Namespace {
			return false, nil
		}
		resource, err := r.o.Client.ResourceOf(ctx, o)
		switch {
		case kube.IsNotFound(err): // a scenario may define the kind
			return false, nil
		case err != nil:
			return false, err
		case !resource.Namespaced:
			return false, nil
		}
	}
	return true, nil
}

// together performs scenarios in namespaces of their own at the same time. What they leave outside of these is recorded at the end, since
// nobody knows which of them has left it.
func (r *run) together(ctx context.Context, scenarios []*scenario.Scenario) error {
	var names, namespaces []string
	for _, s := range scenarios {
		names, namespaces = append(names, s.Name), append(namespaces, s.Namespace)
	}
	var printing sync.Mutex
	progress := func(text string) {
		printing.Lock()
		defer printing.Unlock()
		r.o.Progress(text)
	}
	runs := make([]*run, len(scenarios))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(r.o.Parallel, 1))
	for i, s := range scenarios {
		runs[i] = r.beside(s.Namespace, namespaces)
		runs[i].o.Progress = progress
		group.Go(func() error { return runs[i].scenario(ctx, s) })
	}
	err := group.Wait()
	for _, one := range runs {
		r.observed.Steps = append(r.observed.Steps, one.observed.Steps...)
		r.observed.Failed = append(r.observed.Failed, one.observed.Failed...)
		r.observed.Left = append(r.observed.Left, one.observed.Left...)
		for _, left := range one.observed.Left {
			r.known[string(left.GetUID())] = true
		}
	}
	slices.SortStableFunc(r.observed.Steps, func(a, b Step) int { return a.Start.Compare(b.Start) })
	if err != nil {
		return err
	}
	r.recordLeft(strings.Join(names, ", "), nil)
	return nil
}

// beside returns a run for a scenario in a namespace. What happens in the namespaces of the others isn't about it.
func (r *run) beside(namespace string, all []string) *run {
	one := *r
	one.namespace, one.known, one.observed = namespace, maps.Clone(r.known), Observation{}
	one.settling.Concerns = func(o *kube.Object) bool {
		of := o.GetNamespace()
		if o.GetKind() == "Namespace" {
			of = o.GetName()
		}
		return of == namespace || !slices.Contains(all, of)
	}
	return &one
}
