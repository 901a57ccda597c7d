package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-sdk/operon/pkg/kube"
)

// relistDelay is the time between a failed watch and the next list.
const relistDelay = 200 * time.Millisecond

// follow calls handle for each object of a list and each that is added or changed, until ctx ends. The query selects objects.
func follow[T any](ctx context.Context, client *kube.Client, path, query string, handle func(context.Context, *T)) {
	// The next list includes the changes that a failed watch has missed.
	wait.UntilWithContext(ctx, func(ctx context.Context) { _ = followOnce(ctx, client, path+"?"+query, handle) }, relistDelay)
}

// followOnce lists and watches objects until the watch ends.
func followOnce[T any](ctx context.Context, client *kube.Client, path string, handle func(context.Context, *T)) error {
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []T
	}
	if err := client.Do(ctx, http.MethodGet, path, "", nil, &list); err != nil {
		return err
	}
	for i := range list.Items {
		handle(ctx, &list.Items[i])
	}
	stream, err := client.Watch(ctx, path+"&watch=1&resourceVersion="+list.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	for decoder := json.NewDecoder(stream); ; {
		var event struct {
			Type   string
			Object T
		}
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch event.Type {
		case "ADDED", "MODIFIED":
			handle(ctx, &event.Object)
		case "ERROR":
			return errors.New("the watch ended")
		}
	}
}
