package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// A key groups requests that are counted together. Code is 0 for requests without an answer.
type key struct {
	verb, resource string
	code           int
}

// isOfProcess reports whether the requests are for all resources: discovery, and watches, which the API server ends after some minutes.
func (k key) isOfProcess() bool { return k.verb == "watch" || strings.HasPrefix(k.resource, "/") }

// counts are numbers of requests.
type counts map[key]int

// minus returns the requests since earlier counts.
func (c counts) minus(earlier counts) counts {
	result := counts{}
	for key, n := range c {
		if n -= earlier[key]; n > 0 {
			result[key] = n
		}
	}
	return result
}

// total returns the number of requests whose keys match; nil means all.
func (c counts) total(match func(key) bool) int {
	total := 0
	for key, n := range c {
		if match == nil || match(key) {
			total += n
		}
	}
	return total
}

// String lists the counts by verb, resource and code, the largest first.
func (c counts) String() string {
	keys := slices.SortedFunc(maps.Keys(c), func(a, b key) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a.verb, b.verb), cmp.Compare(a.resource, b.resource), cmp.Compare(a.code, b.code))
	})
	var lines []string
	for _, key := range keys {
		lines = append(lines, fmt.Sprintf("%6d %s %s %d", c[key], key.verb, key.resource, key.code))
	}
	return strings.Join(lines, "\n")
}

// requests are the requests of an operator.
type requests struct {
	mu     sync.Mutex
	counts counts
	writes []gateway.Record
}

// record adds a request.
func (r *requests) record(record gateway.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[key{record.Verb, record.GroupResource(), record.Code}]++
	if record.IsWrite() {
		r.writes = append(r.writes, record)
	}
}

// counted returns the numbers of all requests so far.
func (r *requests) counted() counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.counts)
}

// written returns all writes so far, in the order of the answers.
func (r *requests) written() []gateway.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.writes)
}
