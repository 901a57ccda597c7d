package preview

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/deploy"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// add adds a write.
func (p *Preview) add(w gateway.DryWrite) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case w.Resource == "events":
		p.found.Events++
	case w.Refused != "":
		p.addRefused(w, w.Refused)
	case !w.Done():
		p.addFailed(w)
	case w.Verb == "deletecollection":
		p.addCollection(w)
	case w.Verb == "delete", w.Subresource == "eviction":
		w.Subresource = ""
		p.addDeletion(w)
	default:
		p.addChange(w)
	}
}

// isNew reports whether a key is new.
func (p *Preview) isNew(key string) bool {
	if p.seen[key] {
		p.found.Repeated++
		return false
	}
	p.seen[key], p.last = true, p.o.Now()
	return true
}

func (p *Preview) addRefused(w gateway.DryWrite, reason string) {
	text := fmt.Sprintf("%s %s: %s", w.Verb, describe(w.Request), reason)
	if p.isNew("refused " + w.Request.String()) {
		p.found.Refused = append(p.found.Refused, text)
	}
}

// addFailed adds a write that the API server refused, unless the operator handles that, or wouldn't see it without the preview.
func (p *Preview) addFailed(w gateway.DryWrite) {
	switch {
	case w.ServerCode == http.StatusConflict, w.ServerCode == http.StatusTooManyRequests:
	case w.ServerCode == http.StatusNotFound && (w.Verb == "delete" || p.imagined[w.Object()]):
	default:
		p.addRefused(w, "the API server refuses it: "+cmp.Or(strings.Join(strings.Fields(w.Message), " "), http.StatusText(w.ServerCode)))
	}
}

func (p *Preview) addCollection(w gateway.DryWrite) {
	var list unstructured.UnstructuredList
	if w.Live == nil || list.UnmarshalJSON(w.Live) != nil {
		p.addUnknown(w, "would be deleted, if there are any")
		return
	}
	for _, o := range list.Items {
		one := w
		one.Verb, one.Namespace, one.Name = "delete", o.GetNamespace(), o.GetName()
		p.addDeleted(one, &o)
	}
}

func (p *Preview) addDeletion(w gateway.DryWrite) {
	if o := decode(w.Live); o != nil {
		p.addDeleted(w, o)
		return
	}
	p.deleted[w.Object()] = true
	p.addUnknown(w, "would be deleted")
}

func (p *Preview) addDeleted(w gateway.DryWrite, o *kube.Object) {
	if o.GetDeletionTimestamp() != nil {
		p.unchanged[w.Object()] = true
		return
	}
	p.deleted[w.Object()] = true
	if p.isNew("delete " + w.Object()) {
		p.addFile(w, "delete", deploy.Comparable(o), nil)
	}
}

// addChange adds a create, an update or a patch.
func (p *Preview) addChange(w gateway.DryWrite) {
	result := decode(w.Result)
	if w.Created() && result != nil {
		p.addCreated(w, result)
		return
	}
	live := decode(w.Live)
	if result == nil || live == nil {
		p.changed[w.Object()] = true
		p.addUnknown(w, "would change, but this user can't read it, or it is too large for a diff")
		return
	}
	live, result = deploy.Comparable(live), deploy.Comparable(result)
	var paths []string
	for _, d := range (&stage.Change{Before: live, After: result}).Differences() {
		paths = append(paths, d.Path)
	}
	if len(paths) == 0 {
		p.unchanged[w.Object()] = true
		return
	}
	p.changed[w.Object()] = true
	if p.isNew("change " + w.Object() + " " + w.Subresource + " " + strings.Join(paths, " ")) {
		p.addFile(w, "change", live, result)
	}
}

func (p *Preview) addCreated(w gateway.DryWrite, o *kube.Object) {
	p.imagined[w.Object()] = true
	o = deploy.Comparable(o)
	delete(o.Object, "status") // it can't be set by a create
	if prefix := o.GetGenerateName(); prefix != "" && strings.HasPrefix(o.GetName(), prefix) {
		w.Name = prefix + "*" // each pass gets another name
		o.SetName(w.Name)
		for _, owner := range o.GetOwnerReferences() {
			w.Name += " of " + owner.Name
		}
	}
	p.created[w.Object()] = true
	if p.isNew("create " + w.Object()) {
		p.addFile(w, "create", nil, o)
	}
}

// addUnknown adds a write that can't be shown as a diff.
func (p *Preview) addUnknown(w gateway.DryWrite, problem string) {
	if p.isNew(w.Request.String()) {
		p.found.Unknown = append(p.found.Unknown, describe(w.Request)+" "+problem)
	}
}

// addFile adds a write whose result is known. verb says what it does.
func (p *Preview) addFile(w gateway.DryWrite, verb string, before, after *kube.Object) {
	c, err := deploy.ChangeOf(before, after)
	if err != nil { // objects that came as JSON can be encoded
		p.found.Unknown = append(p.found.Unknown, fmt.Sprintf("%s: %v", describe(w.Request), err))
		return
	}
	named := after
	if named == nil {
		named = before
	}
	switch { // the kind isn't that of the object
	case w.Subresource == "scale" || named.GetKind() == "PartialObjectMetadata":
		c.Path = describe(w.Request)
	case w.Subresource != "":
		c.Path += "/" + w.Subresource
	}
	p.found.Changes = append(p.found.Changes, c)
	p.o.Progressf("would %s %s", verb, c.Path)
}

// describe returns the object of a request as deployments.apps/NAMESPACE/NAME, with the subresource at the end.
func describe(r gateway.Request) string {
	subresource := r.Subresource
	r.Subresource = ""
	parts := slices.DeleteFunc([]string{r.GroupResource(), r.Namespace, r.Name, subresource}, func(part string) bool { return part == "" })
	return strings.Join(parts, "/")
}

// decode returns an object in JSON, or nil.
func decode(text []byte) *kube.Object {
	o := &kube.Object{}
	if text == nil || o.UnmarshalJSON(text) != nil {
		return nil
	}
	return o
}

// Result returns what was collected.
func (p *Preview) Result() *Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.found
	r.Changes = slices.SortedStableFunc(slices.Values(r.Changes), func(a, b worktree.Change) int { return cmp.Compare(a.Path, b.Path) })
	r.Refused, r.Unknown = slices.Sorted(slices.Values(r.Refused)), slices.Sorted(slices.Values(r.Unknown))
	r.Created, r.Deleted = len(p.created), len(p.deleted)
	r.Changed = countWithout(p.changed, p.created, p.deleted)
	r.Unchanged = countWithout(p.unchanged, p.created, p.changed, p.deleted)
	return &r
}

// countWithout returns how many of the objects aren't in others.
func countWithout(objects map[string]bool, others ...map[string]bool) (n int) {
	for name := range objects {
		if !slices.ContainsFunc(others, func(other map[string]bool) bool { return other[name] }) {
			n++
		}
	}
	return n
}
