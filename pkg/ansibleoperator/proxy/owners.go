package proxy

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// statusDelay combines the many changes of status of a rollout to few runs.
	statusDelay = 2 * time.Second
	// maxBurst runs of an owner can follow changes without a delay. Each burstInterval allows one more. It limits roles that
	// cause changes of their objects in each run.
	maxBurst      = 10
	burstInterval = 20 * time.Second
	// maxWrites is the number of versions of an object that the proxy keeps until their changes are received.
	maxWrites = 32
	// maxHeld is the number of changes of an object that are kept apart during a run.
	maxHeld = 64
)

// An ownerKey is the name of a custom resource.
type ownerKey struct {
	schema.GroupKind
	types.NamespacedName
}

func (o Owner) key() ownerKey {
	return ownerKey{o.GroupKind(), types.NamespacedName{Namespace: o.Namespace, Name: o.Name}}
}

// An ownerKind is a kind of custom resources with runs.
type ownerKind struct {
	settings      Settings
	clusterScoped bool
}

// An objectKey is the name of an object.
type objectKey struct {
	schema.GroupResource
	types.NamespacedName
}

// An ownerState is what the proxy keeps of a custom resource until Remove.
type ownerState struct {
	// runs is the number of current runs. Changes are held back during a run, as the run makes most of them.
	runs int
	held map[objectKey][]change
	// objects are the objects of watched kinds that have the owner's mark and that its runs have read or written.
	objects map[objectKey]*seenObject
	// deleted are the objects that the current or last run deleted.
	deleted map[types.UID]bool
	// listed are the resources that the current or last run has read several objects of at once.
	listed map[schema.GroupResource]bool

	// due is the time of the run that was requested; zero if none was requested since the last one began.
	due time.Time
	// ready is the earliest time of that run, and quota the time when maxBurst runs are allowed again.
	ready, quota time.Time
}

// A seenObject is what the proxy has seen of an object.
type seenObject struct {
	// writes are versions that runs of the owner wrote.
	writes []string
	// read is the oldest version that the current or last run has read, 0 for none.
	read uint64
	// newest is the newest version that runs of the owner have read or written, and uid is the UID of the object in the last response.
	newest uint64
	uid    types.UID
}

// A change is one of an object that belongs to an owner.
type change struct {
	version string
	uid     types.UID
	// deleted is set if the object does not exist any more, statusOnly if nothing else has changed. created is set if a watch has not
	// received the object before.
	deleted, statusOnly, created bool
}

// begin resets what is kept for one run only.
func (s *ownerState) begin() {
	s.runs++
	s.due = time.Time{}
	s.deleted, s.listed = nil, nil
	for _, object := range s.objects {
		object.read = 0
	}
}

// object returns what was seen of an object.
func (s *ownerState) object(key objectKey) *seenObject {
	if s.objects == nil {
		s.objects = map[objectKey]*seenObject{}
	}
	object := s.objects[key]
	if object == nil {
		object = &seenObject{}
		s.objects[key] = object
	}
	return object
}

func (o *seenObject) recordRead(version string) {
	v := parseVersion(version)
	o.newest = max(o.newest, v)
	if v > 0 && (o.read == 0 || v < o.read) {
		o.read = v
	}
}

func (o *seenObject) recordWrite(version string) {
	if version == "" || slices.Contains(o.writes, version) {
		return
	}
	if len(o.writes) == maxWrites {
		o.writes = o.writes[1:]
	}
	o.writes = append(o.writes, version)
	o.newest = max(o.newest, parseVersion(version))
}

// explains reports whether a change needs no run: a run of the owner made it, or the last run has seen it in all that it has read of the
// object. Runs create objects: one that no run has seen is new to its owner, or the first run of the owner is still to come.
func (s *ownerState) explains(key objectKey, c change) bool {
	if c.deleted {
		return s.deleted[c.uid]
	}
	object := s.objects[key]
	if object == nil {
		return c.created
	}
	if slices.Contains(object.writes, c.version) {
		return true
	}
	v := parseVersion(c.version)
	return v > 0 && v <= object.read && !s.listed[key.GroupResource]
}

// hold keeps a change until the run ends, as the response to a request that makes it can be received later.
func (s *ownerState) hold(key objectKey, c change) {
	if s.held == nil {
		s.held = map[objectKey][]change{}
	}
	held := s.held[key]
	if len(held) == maxHeld {
		last := &held[maxHeld-1]
		last.version, last.statusOnly = "", last.statusOnly && c.statusOnly && !c.deleted
		return
	}
	s.held[key] = append(held, c)
}

// release returns whether changes that were held back require a run.
func (s *ownerState) release() (required, statusOnly bool) {
	statusOnly = true
	for key, changes := range s.held {
		for _, c := range changes {
			if !s.explains(key, c) {
				required, statusOnly = true, statusOnly && c.statusOnly
			}
		}
		if changes[len(changes)-1].deleted {
			delete(s.objects, key)
		}
	}
	s.held = nil
	return required, statusOnly
}

// request returns the delay of a run that a change requires; ok is false if one is requested already that begins early enough.
func (s *ownerState) request(now time.Time, statusOnly bool) (delay time.Duration, ok bool) {
	if s.due.IsZero() {
		if s.quota.Before(now) {
			s.quota = now
		}
		s.ready = s.quota.Add(-(maxBurst - 1) * burstInterval)
		s.quota = s.quota.Add(burstInterval)
	}
	at := now
	if statusOnly {
		at = at.Add(statusDelay)
	}
	if at.Before(s.ready) {
		at = s.ready
	}
	if !s.due.IsZero() && !at.Before(s.due) {
		return 0, false
	}
	s.due = at
	return at.Sub(now), true
}

// withdraw reverts a request that was not accepted.
func (s *ownerState) withdraw() {
	if !s.due.IsZero() {
		s.due, s.quota = time.Time{}, s.quota.Add(-burstInterval)
	}
}

// parseVersion returns a resource version as a number; 0 if it is not one. Versions of the same resource can be compared.
func parseVersion(version string) uint64 {
	v, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return v
}
