package image_test

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/image"
)

// TestRedactedErrorsUnwrap checks that an error without secrets still wraps its cause.
func TestRedactedErrorsUnwrap(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	_, err := image.Registries{}.Digest(t.Context(), strings.TrimPrefix(server.URL, "https://")+"/team/op:v1")
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); !ok || !errors.Is(err, image.ErrUnreachable) {
		t.Errorf("%v does not wrap its cause", err)
	}
}
