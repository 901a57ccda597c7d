package stage_test

import (
	"testing"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/stage"
)

func TestUnwatched(t *testing.T) {
	t.Parallel()
	watch := gateway.Record{Request: gateway.Request{Verb: "watch", Group: "example.com", Resource: "apps"}, Code: 200}
	refused := watch
	refused.Code, refused.Resource = 403, "others"
	resources := []string{"apps.example.com", "others.example.com"}
	if got := stage.Unwatched(resources, []gateway.Record{watch, refused}); got != "the operator doesn't watch others.example.com" {
		t.Errorf("got %q", got)
	}
	if got := stage.Unwatched(resources[:1], []gateway.Record{watch}); got != "" {
		t.Errorf("got %q", got)
	}
}
