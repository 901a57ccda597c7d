package suite

import (
	"fmt"
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/cluster"
)

// A part is a test that can run at the same time as others.
type part struct {
	name string
	run  func(*testing.T)
}

// sideBySide runs tests at the same time, since most of their time is waiting. Each of them may check that nothing of its own is left, which the
// others do not disturb. After all of them, the objects of the scope must be as before.
func (b *bench) sideBySide(t *testing.T, name string, scope cluster.Scope, parts ...part) (ok bool) {
	t.Helper()
	before := b.objects(t, scope)
	if ok = t.Run(name, func(t *testing.T) {
		for _, p := range parts {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.run(t)
				b.progress.Done("test " + p.name)
			})
		}
	}); ok { // else objects are left
		b.backTo(t, before)
	}
	return ok
}

// objects are those of a scope at one time.
type objects struct {
	scope cluster.Scope
	cluster.Snapshot
}

// objects returns the objects of a scope, once none of them is being deleted.
func (b *bench) objects(t *testing.T, scope cluster.Scope) objects {
	t.Helper()
	found := objects{scope: scope}
	// The API server takes a moment to serve a new kind.
	b.eventually(t, func() (err error) {
		if found.Snapshot, err = cluster.Objects(b.ctx, b.client, scope); err == nil {
			err = found.Settled()
		}
		return err
	})
	return found
}

// differsFrom checks that the scope selects objects that a test has created. Otherwise backTo would check nothing.
func (b *bench) differsFrom(t *testing.T, before objects) {
	t.Helper()
	if before.Diff(b.objects(t, before.scope).Snapshot) == "" {
		t.Errorf("the scope %+v selects none of the objects that are there now", before.scope)
	}
}

// backTo waits until the objects of a scope are as they were.
func (b *bench) backTo(t *testing.T, before objects) {
	t.Helper()
	b.eventually(t, func() error {
		after, err := cluster.Objects(b.ctx, b.client, before.scope)
		if err != nil {
			return err
		}
		if diff := before.Diff(after); diff != "" {
			return fmt.Errorf("the cluster's objects are not as before:\n%s", diff)
		}
		return nil
	})
}
