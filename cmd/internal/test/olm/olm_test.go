//go:build unix

package olm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// A state is what a row of TestOLM needs of the cluster, and what it leaves.
type state string

const (
	absent      state = "no trace of OLM"
	interrupted state = "an installation that was killed"
	installed   state = "OLM is installed"
	older       state = "an older release, installed by another program"
	unreachable state = "OLM is installed, and its API service does not answer"
	inUse       state = "OLM is installed, with an operator and objects of users"
	stuck       state = "a removal that was killed, and a namespace that is not removed"
	removed     state = "a part of OLM, and a custom resource without an operator"
)

// A step brings a cluster to a state from another one, without checks.
type step struct {
	from state
	do   func(*olmCluster, *testing.T)
}

// steps returns the steps to the states that rows need.
func steps() map[state]step {
	return map[state]step{
		interrupted: {absent, (*olmCluster).killInstall},
		installed:   {absent, func(c *olmCluster, t *testing.T) { c.must(t, 0, "install") }},
		older:       {installed, func(c *olmCluster, t *testing.T) { c.installOlder(t, c.serveRelease(t, olderVersion)) }},
		inUse:       {installed, (*olmCluster).installOperator},
		stuck:       {inUse, (*olmCluster).killUninstall},
		removed:     {installed, (*olmCluster).removePart},
	}
}

// TestOLM takes OLM through its life. Each row states which states it can start from, the first of which can be reached without the rows above.
// When all rows pass, each starts from what the one before it left, in one cluster. After a failure the next row gets a new cluster, so that the
// failure spoils no other row; a row that is selected with -run is the first one.
func TestOLM(t *testing.T) {
	t.Parallel()
	l := &life{}
	for _, row := range []struct {
		name   string
		from   []state
		run    func(*olmCluster, *testing.T)
		leaves state
	}{
		{"nothing there", []state{absent}, (*olmCluster).nothingThere, absent},
		{"in a pod", []state{absent}, (*olmCluster).inPod, absent},
		{"no rights", []state{absent}, (*olmCluster).noRights, absent},
		{"install is killed", []state{absent}, (*olmCluster).installKilled, interrupted},
		{"install completes it", []state{interrupted}, (*olmCluster).installCompleted, installed},
		{"status", []state{installed}, (*olmCluster).statusOfInstalled, installed},
		{"install again", []state{installed}, (*olmCluster).installedAgain, installed},
		{"half of it deleted", []state{installed}, (*olmCluster).halfDeleted, installed},
		{"a service account deleted", []state{installed}, (*olmCluster).accountDeleted, installed},
		{"pods that do not start", []state{installed}, (*olmCluster).podsDoNotStart, installed},
		{"an older release", []state{installed}, (*olmCluster).olderRelease, older},
		{"upgrade", []state{older}, (*olmCluster).upgraded, installed},
		{"an API service that does not answer", []state{installed}, (*olmCluster).serviceUnreachable, unreachable},
		{"uninstall with an operator", []state{installed, unreachable}, (*olmCluster).uninstallWithOperator, inUse},
		{"uninstall is killed", []state{inUse}, (*olmCluster).uninstallKilled, stuck},
		{"uninstall with another API service that does not answer", []state{stuck}, (*olmCluster).otherServiceUnreachable, removed},
		{"definitions that are held", []state{removed}, (*olmCluster).definitionsHeld, removed},
		{"a definition that is being deleted", []state{removed}, (*olmCluster).definitionDeleted, removed},
		{"uninstall completes it", []state{removed}, (*olmCluster).uninstallCompleted, absent},
	} {
		if !l.reaches(row.from) {
			l.restart(t)
		}
		t.Run(row.name, func(t *testing.T) {
			l.bring(t, row.from)
			l.state = ""
			if row.run(l.cluster, t); !t.Failed() {
				l.state = row.leaves
			}
		})
	}
}

// A life is OLM's in one cluster after another.
type life struct {
	cluster *olmCluster
	// state is empty before the first row and after one that has failed.
	state state
}

// reaches reports whether the cluster can be brought to one of the states.
func (l *life) reaches(states []state) bool {
	if l.state == "" || slices.Contains(states, l.state) {
		return l.state != ""
	}
	for s := states[0]; s != absent; {
		if s = steps()[s].from; s == l.state {
			return true
		}
	}
	return false
}

// restart replaces the cluster with a new one. t is the test of all rows, whose end is the cluster's.
func (l *life) restart(t *testing.T) {
	t.Helper()
	if l.cluster != nil {
		_ = l.cluster.Plane.Stop() // the test's cleanup returns the same error
	}
	l.cluster, l.state = startOLMCluster(t), absent
	l.cluster.before = l.cluster.ListObjects(t)
}

// bring brings the cluster to the first of the states, unless it is in one of them.
func (l *life) bring(t *testing.T, states []state) {
	t.Helper()
	if slices.Contains(states, l.state) {
		return
	}
	step := steps()[states[0]]
	l.bring(t, []state{step.from})
	l.state = ""
	step.do(l.cluster, t)
	l.state = states[0]
	t.Logf("state: %s", l.state)
}

// checkUnchanged checks that the cluster has the objects with which it started.
func (c *olmCluster) checkUnchanged(t *testing.T) {
	t.Helper()
	c.Try(t, func() error {
		if after := c.ListObjects(t); !slices.Equal(c.before, after) {
			return fmt.Errorf("the cluster has changed:\n%s", clitest.Diff(c.before, after))
		}
		return nil
	})
}
