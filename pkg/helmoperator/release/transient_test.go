package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"helm.sh/helm/v4/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestIsTransient(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "things"}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "a", nil)
	busy := apierrors.NewTooManyRequests("wait", 1)
	apply := apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict}}, "conflict")
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("hook failed"), false},
		{context.DeadlineExceeded, false}, // the timeout of a hook
		{invalid, false},
		{apierrors.NewForbidden(resource, "a", errors.New("no")), false},
		{apply, false},
		{busy, true},
		{fmt.Errorf("upgrade: %w", busy), true},
		{apierrors.NewInternalError(errors.New("etcd")), true},
		{apierrors.NewServiceUnavailable("starting"), true},
		{apierrors.NewConflict(resource, "a", errors.New("changed")), true},
		{apierrors.NewAlreadyExists(resource, "a"), false}, // a chart that has an object twice
		{fmt.Errorf("x: %w", driver.ErrReleaseExists), true},
		{errors.New("another operation (install/upgrade/rollback) is in progress"), true},
		{apierrors.NewInternalError(errors.New("etcdserver: request is too large")), false},
		{apierrors.NewUnauthorized("expired"), true},
		{&url.Error{Op: "Get", URL: "https://example.com", Err: io.ErrUnexpectedEOF}, true},
		{errors.Join(busy, apierrors.NewTimeoutError("slow", 1)), true},
		{errors.Join(busy, invalid), false},
		{fmt.Errorf("%w; %w", invalid, busy), false},
		{&RolledBackError{Err: busy}, true},
		{fmt.Errorf("x: %w", errBusy), true},
	} {
		if got := IsTransient(test.err); got != test.want {
			t.Errorf("%v: %t", test.err, got)
		}
	}
}

// TestDryRunClient never changes anything.
func TestDryRunClient(t *testing.T) {
	t.Parallel()
	var sent string
	client := dryRunClient(&http.Client{Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
		sent = request.Method + " " + request.URL.RawQuery
		return nil, io.EOF
	})})
	for method, want := range map[string]string{
		http.MethodGet: "GET a=b", http.MethodPost: "POST a=b&dryRun=All", http.MethodPatch: "PATCH a=b&dryRun=All", http.MethodPut: "PUT a=b&dryRun=All",
		http.MethodDelete: "", "OTHER": "",
	} {
		sent = ""
		request, err := http.NewRequestWithContext(t.Context(), method, "https://example.com/?a=b", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := client.Do(request); err == nil {
			response.Body.Close()
		}
		if sent != want {
			t.Errorf("%s: %q, want %q", method, sent, want)
		}
	}
}
