package report

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// A board has a lane for each object of a run.
type board struct {
	scale

	lanes []*lane
	// byUID, byKind and byRequest find lanes: by the UIDs of their objects, by the result of kindName, and by the results of
	// gateway.Request.Object. An object that is created again has a new UID and the same lane.
	byUID, byKind, byRequest map[string]*lane
	// unchanged are the writes that changed nothing.
	unchanged map[writeID]bool
	total     counts
	turns     []turn
}

// A writeID distinguishes writes.
type writeID struct {
	start        time.Time
	uid, version string
}

func idOf(r gateway.Record) writeID { return writeID{r.Start, r.UID, r.ResourceVersion} }

func newBoard(o *behavior.Observation) *board {
	b := &board{
		scale: newScale(o), byUID: map[string]*lane{}, byKind: map[string]*lane{}, byRequest: map[string]*lane{}, unchanged: map[writeID]bool{},
	}
	for _, w := range o.Writes {
		if w.Change == nil {
			b.unchanged[idOf(w.Record)] = true
		}
	}
	for _, c := range o.Changes {
		if !c.Outlined && !stage.IsHeartbeat(c.After) && !stage.IsIncidental(c.After) {
			b.addChange(c)
		}
	}
	b.nameRequests(o.Requests)
	for _, r := range o.Requests {
		class := b.classify(r)
		b.total.add(class)
		if l := b.byRequest[r.Object()]; l != nil && r.Name != "" {
			l.requests = append(l.requests, r)
			l.Counts.add(class)
			l.Made = l.Made || r.Created()
			l.involved = l.involved || r.IsWrite()
		}
	}
	return b
}

// kindName returns the group, kind, namespace and name of an object, which stay if it is created again.
func kindName(o *kube.Object) string { return o.GroupVersionKind().Group + " " + kube.FullName(o) }

func (b *board) addChange(c stage.Change) {
	name := kindName(c.After)
	l := b.byKind[name]
	if l == nil {
		l = &lane{Kind: shorten(c.After.GetKind()), Name: shorten(c.After.GetName()), Namespace: shorten(c.After.GetNamespace()), object: c.After}
		b.byKind[name] = l
		b.lanes = append(b.lanes, l)
	}
	b.byUID[string(c.After.GetUID())] = l
	b.turns = append(b.turns, l.add(c, b.scale)...)
}

// nameRequests fills byRequest. The resources of kinds are known from writes, and guessed where the operator only reads.
func (b *board) nameRequests(requests []gateway.Record) {
	resources := map[string]string{}
	for _, r := range requests {
		if l := b.byUID[r.UID]; l != nil {
			resources[r.Group+" "+l.object.GetKind()] = r.Resource
		}
	}
	for _, l := range b.lanes {
		gvk := l.object.GroupVersionKind()
		resource := resources[gvk.Group+" "+gvk.Kind]
		if resource == "" {
			guess, _ := meta.UnsafeGuessKindToResource(gvk)
			resource = guess.Resource
		}
		request := gateway.Request{Group: gvk.Group, Resource: resource, Namespace: l.object.GetNamespace(), Name: l.object.GetName()}
		b.byRequest[request.Object()] = l
	}
}

// find returns the lane that a finding names, as a request or as an object, or nil.
func (b *board) find(name string) *lane {
	if l := b.byRequest[withoutSubresource(name)]; l != nil {
		return l
	}
	for _, l := range b.lanes {
		if kube.FullName(l.object) == name {
			return l
		}
	}
	return nil
}

// arrange returns the lanes that the operator has to do with, and those that came into being in the run. Each owner is followed by what
// it owns.
func (b *board) arrange() (arranged []*lane) {
	children := map[*lane][]*lane{}
	var roots []*lane
	for _, l := range b.lanes {
		if !l.involved {
			continue
		}
		if owner := b.ownerOf(l); owner != nil && owner.involved && owner != l {
			children[owner] = append(children[owner], l)
		} else {
			roots = append(roots, l)
		}
	}
	placed := map[*lane]bool{}
	var place func(l *lane, depth int)
	place = func(l *lane, depth int) {
		if placed[l] {
			return
		}
		placed[l], l.Depth = true, depth
		arranged = append(arranged, l)
		for _, child := range children[l] {
			l.Children = append(l.Children, child)
			place(child, depth+1)
		}
	}
	for _, l := range roots {
		place(l, 0)
	}
	for _, l := range b.lanes { // owners in a circle
		if l.involved {
			place(l, 0)
		}
	}
	return arranged
}

func (b *board) ownerOf(l *lane) *lane {
	if owners := l.object.GetOwnerReferences(); len(owners) > 0 {
		return b.byUID[string(owners[0].UID)]
	}
	return nil
}

// show draws the lanes that the page shows, and returns those without an owner.
func (b *board) show(lanes []*lane) (tree []*lane) {
	for i, l := range lanes {
		l.Number = i + 1
	}
	for _, l := range lanes {
		l.Children = slices.DeleteFunc(l.Children, func(child *lane) bool { return child.Number == 0 || child.Depth != l.Depth+1 })
		l.draw(b, bucketsFor(len(lanes)))
		if l.Depth == 0 {
			tree = append(tree, l)
		}
	}
	return tree
}
