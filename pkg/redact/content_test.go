package redact_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/redact"
)

func TestAddContent(t *testing.T) {
	t.Parallel()
	const special, lines = "p'ä%s\"w$\\d{{ x }}&", "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\n-----END KEY-----\n"
	binary := base64.StdEncoding.EncodeToString([]byte{0xff, 0xfe, 0, 1, 2, 3, 4, 5})
	var r redact.Redactor
	r.AddContent(map[string]any{
		"username": "administrator", "list": []any{special, lines, map[string]any{"keystore": binary}}, "pin": int64(987654), "big": 12345678.0,
		"enabled": "true", "on": true, "short": "ab", "port": int64(8080), "none": nil,
	})
	for _, secret := range []string{
		"administrator", special, fmt.Sprintf("%q", special), "'" + strings.ReplaceAll(special, "'", "''") + "'", url.QueryEscape(special), "MIIEpAIBAAKCAQEA",
		base64.StdEncoding.EncodeToString([]byte(lines)), base64.StdEncoding.EncodeToString([]byte(special)), binary, `p'\u00e4%s\"w$\\d{{ x }}&`, `p'ä%s\\\"w$\\\\d{{ x }}&`, "987654", "12345678",
	} {
		got := r.Redact("value " + secret + ": refused")
		if rest := strings.Trim(strings.NewReplacer("value ", "", ": refused", "", redact.Replacement, "").Replace(got), `"'`); rest != "" {
			t.Errorf("%s became %s", secret, got)
		}
	}
	if text := "true ab 8080 default"; r.Redact(text) != text {
		t.Errorf("got %s", r.Redact(text))
	}
}
