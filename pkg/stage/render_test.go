package stage_test

import (
	"testing"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/stage"
)

func TestAwaitWatches(t *testing.T) {
	t.Parallel()
	watch := func(resource string, code int) gateway.Record {
		return gateway.Record{Request: gateway.Request{Verb: "watch", Group: "example.com", Resource: resource}, Code: code}
	}
	requests := []gateway.Record{watch("apps", 200), watch("others", 403)}
	busy := stage.AwaitWatches([]string{"apps.example.com", "others.example.com"}, func() []gateway.Record { return requests })
	if got := busy(); got != "the operator doesn't watch others.example.com" {
		t.Errorf("got %q", got)
	}
	requests = append(requests, watch("others", 200))
	if got := busy(); got != "" {
		t.Errorf("got %q", got)
	}
}
