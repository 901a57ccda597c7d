package behavior

import (
	"slices"
	"testing"
)

// TestRepairable checks which objects of an operator are deleted by hand: what has an owner, and what isn't done.
func TestRepairable(t *testing.T) {
	t.Parallel()
	const done = ", status: {conditions: [{type: Completed, status: 'True'}]}"
	objects := decode(t,
		"metadata: {name: running, uid: running}",
		"metadata: {name: completed, uid: completed}"+done,
		"metadata: {name: repairable, uid: '1', ownerReferences: [{uid: running}]}, status: {conditions: [{type: Completed, status: 'False'}]}",
		"metadata: {name: of others, uid: '2', ownerReferences: [{uid: running}]}",
		"metadata: {name: without owner, uid: '3'}",
		"metadata: {name: done, uid: '4', ownerReferences: [{uid: running}]}"+done,
		"metadata: {name: of a completed one, uid: '5', ownerReferences: [{uid: completed}]}",
	)
	var got []string
	for _, o := range repairable(objects, map[string]bool{"1": true, "3": true, "4": true, "5": true}) {
		got = append(got, o.GetName())
	}
	if want := []string{"repairable"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
