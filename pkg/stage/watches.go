package stage

import (
	"net/http"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// AwaitWatches returns a function that says which of the resources, such as memcacheds.cache.example.com, an operator doesn't watch yet,
// or "".
func AwaitWatches(resources []string, requests func() []gateway.Record) func() string {
	missing := slices.Clone(resources)
	return awaitWatch(requests, func(resource string) string {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == resource })
		if len(missing) == 0 {
			return ""
		}
		return missing[0]
	})
}

// AwaitAnyWatch is AwaitWatches for an operator of which it isn't known which resources it watches: one is enough.
func AwaitAnyWatch(resources []string, requests func() []gateway.Record) func() string {
	missing := strings.Join(resources, " or ")
	return awaitWatch(requests, func(resource string) string {
		if slices.Contains(resources, resource) {
			missing = ""
		}
		return missing
	})
}

// awaitWatch returns a function that says what an operator doesn't watch yet. missing is called with each watched resource, and once
// with none, and returns what isn't watched.
func awaitWatch(requests func() []gateway.Record, missing func(resource string) string) func() string {
	seen, unwatched := 0, missing("")
	return func() string {
		if unwatched == "" {
			return ""
		}
		records := requests()
		for _, r := range records[seen:] {
			if r.Verb == "watch" && r.Code == http.StatusOK {
				unwatched = missing(r.GroupResource())
			}
		}
		seen = len(records)
		switch {
		case unwatched == "":
			return ""
		case seen == 0:
			return "the operator has made no request: the server that it is to use is in the kubeconfig of the variable KUBECONFIG"
		}
		return "the operator doesn't watch " + unwatched
	}
}
