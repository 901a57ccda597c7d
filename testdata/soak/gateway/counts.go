package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Key groups requests that are counted together. Code is 0 for requests without an answer.
type Key struct {
	Verb, Resource string
	Code           int
}

// IsOfProcess reports whether the requests are for all resources: discovery, and watches, which the API server ends after some minutes.
func (k Key) IsOfProcess() bool { return k.Verb == "watch" || strings.HasPrefix(k.Resource, "/") }

// Counts are numbers of requests.
type Counts map[Key]int

// Minus returns the requests since earlier counts.
func (c Counts) Minus(earlier Counts) Counts {
	result := Counts{}
	for key, n := range c {
		if n -= earlier[key]; n > 0 {
			result[key] = n
		}
	}
	return result
}

// Total returns the number of requests whose keys match; nil means all.
func (c Counts) Total(match func(Key) bool) int {
	total := 0
	for key, n := range c {
		if match == nil || match(key) {
			total += n
		}
	}
	return total
}

// String lists the counts by verb, resource and code, the largest first.
func (c Counts) String() string {
	keys := slices.SortedFunc(maps.Keys(c), func(a, b Key) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Code, b.Code))
	})
	var lines []string
	for _, key := range keys {
		lines = append(lines, fmt.Sprintf("%6d %s %s %d", c[key], key.Verb, key.Resource, key.Code))
	}
	return strings.Join(lines, "\n")
}

// A Write is a write that the API server or a fault has answered.
type Write struct {
	Time time.Time
	Request
	Code int
}

func (w Write) String() string { return fmt.Sprintf("%s: %d", w.Request, w.Code) }

// Done reports whether the API server has done the write.
func (w Write) Done() bool { return w.Code >= 200 && w.Code < 300 }

// Created reports whether the write has created an object. Server-side apply does so with a patch.
func (w Write) Created() bool { return w.Code == 201 && w.Subresource == "" }

// Counts returns the numbers of all requests so far.
func (g *Gateway) Counts() Counts {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.counts)
}

// Writes returns all writes so far, in the order of the answers.
func (g *Gateway) Writes() []Write {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.writes)
}

func (g *Gateway) count(request Request, code int) {
	g.mu.Lock()
	g.counts[Key{request.Verb, request.GroupResource(), code}]++
	g.mu.Unlock()
}

func (g *Gateway) recordWrite(request Request, code int) {
	if !request.IsWrite() {
		return
	}
	g.mu.Lock()
	g.writes = append(g.writes, Write{time.Now(), request, code})
	g.mu.Unlock()
}
