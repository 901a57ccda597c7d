package customresource_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/operon-sdk/operon/pkg/customresource"
)

func TestTruncate(t *testing.T) {
	t.Parallel()
	if got := customresource.Truncate("short", 10); got != "short" {
		t.Errorf("got %q", got)
	}
	got := customresource.Truncate(strings.Repeat("ä", 100), 100)
	if len(got) > 100 || !utf8.ValidString(got) || !strings.HasSuffix(got, "(truncated)") {
		t.Errorf("got %d bytes %q", len(got), got)
	}
}
