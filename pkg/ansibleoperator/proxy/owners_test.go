package proxy

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// TestExplained checks which changes require a run of the owner.
func TestExplained(t *testing.T) {
	t.Parallel()
	key := objectKey{schema.GroupResource{Resource: "configmaps"}, types.NamespacedName{Namespace: "a", Name: "b"}}
	for name, c := range map[string]struct {
		during func(s *ownerState) // what the run does
		change change
		want   bool
	}{
		"unseen":               {func(*ownerState) {}, change{version: "5"}, false},
		"created":              {func(*ownerState) {}, change{version: "5", created: true}, true},
		"created before":       {func(s *ownerState) { s.object(key).recordRead("4") }, change{version: "5", created: true}, false},
		"written":              {func(s *ownerState) { s.object(key).recordWrite("5") }, change{version: "5"}, true},
		"another version":      {func(s *ownerState) { s.object(key).recordWrite("5") }, change{version: "4"}, false},
		"read later":           {func(s *ownerState) { s.object(key).recordRead("6") }, change{version: "5"}, true},
		"read before":          {func(s *ownerState) { s.object(key).recordRead("4") }, change{version: "5"}, false},
		"read before and then": {func(s *ownerState) { s.object(key).recordRead("4"); s.object(key).recordRead("6") }, change{version: "5"}, false},
		"listed": {func(s *ownerState) {
			s.object(key).recordRead("6")
			s.listed = map[schema.GroupResource]bool{key.GroupResource: true}
		}, change{version: "5"}, false},
		"no number":       {func(s *ownerState) { s.object(key).recordRead("x") }, change{version: "x"}, false},
		"deleted":         {func(s *ownerState) { s.deleted = map[types.UID]bool{"1": true} }, change{uid: "1", deleted: true}, true},
		"another deleted": {func(s *ownerState) { s.deleted = map[types.UID]bool{"1": true} }, change{uid: "2", deleted: true}, false},
		"many writes": {func(s *ownerState) {
			for i := range maxWrites + 1 {
				s.object(key).recordWrite(string(rune('a' + i)))
			}
		}, change{version: "b"}, true},
	} {
		for _, late := range []bool{false, true} {
			s := &ownerState{}
			s.begin()
			if late {
				c.during(s)
			}
			s.hold(key, c.change)
			if !late {
				c.during(s)
			}
			if required, _ := s.release(); required == c.want {
				t.Errorf("%s: a run is required: %v", name, required)
			}
			if s.explains(key, c.change) != c.want {
				t.Errorf("%s: after the run, want %v", name, c.want)
			}
		}
	}

	// All changes during a run are kept. Changes that do not fit require a run.
	s := &ownerState{}
	s.begin()
	s.object(key).recordWrite("1")
	for range maxHeld {
		s.hold(key, change{version: "1", statusOnly: true})
	}
	if required, _ := s.release(); required {
		t.Error("want no run for own changes")
	}
	for range maxHeld + 1 {
		s.hold(key, change{version: "1", statusOnly: true})
	}
	if required, statusOnly := s.release(); !required || !statusOnly {
		t.Error("want a run if changes do not fit")
	}
	s.hold(key, change{version: "2"})
	s.hold(key, change{version: "3", statusOnly: true})
	if required, statusOnly := s.release(); !required || statusOnly {
		t.Error("want a run without delay")
	}
}

// TestRequest checks the delays of runs that changes require.
func TestRequest(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	s := &ownerState{}
	request := func(statusOnly bool, want time.Duration, wantOK bool) {
		t.Helper()
		if delay, ok := s.request(now, statusOnly); delay != want || ok != wantOK {
			t.Errorf("got %s %v, want %s %v", delay, ok, want, wantOK)
		}
	}
	request(true, statusDelay, true)
	request(true, 0, false)
	request(false, 0, true)
	request(false, 0, false)
	request(true, 0, false)
	for range maxBurst - 1 {
		s.begin()
		request(false, 0, true)
	}
	s.begin()
	request(false, burstInterval, true)
	request(false, 0, false)
	now = now.Add(burstInterval)
	s.begin()
	request(true, burstInterval, true)
	now = now.Add(maxBurst * burstInterval)
	for range maxBurst - 1 {
		s.begin()
		request(false, 0, true)
	}
	// Requests that were not accepted are repeated, and do not count.
	now = now.Add(maxBurst * burstInterval)
	for range 2 * maxBurst {
		s.begin()
		request(true, statusDelay, true)
		request(false, 0, true)
		s.withdraw()
	}
	request(false, 0, true)
	request(false, 0, false)
}
