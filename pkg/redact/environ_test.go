package redact_test

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/redact"
)

func TestAddEnviron(t *testing.T) {
	t.Parallel()
	for variable, secret := range map[string]string{
		"API_TOKEN=secret-a":                                   "secret-a",
		"DB_PASSWORD=secret-b":                                 "secret-b",
		"AWS_SECRET_ACCESS_KEY=secret-c":                       "secret-c",
		"AWS_ACCESS_KEY_ID=secret-d":                           "secret-d",
		"KEY=secret-e":                                         "secret-e",
		"SOPS_AGE_KEY=secret-f":                                "secret-f",
		"client_secret=secret-g":                               "secret-g",
		"HTTPS_PROXY=http://me:secret-h@proxy:3128":            "secret-h",
		"DATABASE_URL=postgres://me:secret-i@db/x?sslmode=off": "secret-i",
		"REGISTRY_AUTH=secret-j":                               "secret-j",
		"GIT_CREDENTIALS=secret-k=with=signs":                  "secret-k=with=signs",
		"TOKEN_FILE=/run/secret-l":                             "",
		"SECRET_NAME=secret-m":                                 "",
		"TOKEN_API_SERVICE_HOST=10.0.0.1":                      "",
		"TOKEN_API_PORT=tcp://10.0.0.1:80":                     "",
		"TOKEN_API_PORT_80_TCP_ADDR=10.0.0.1":                  "",
		"DISABLE_TOKEN=true":                                   "",
		"PASSWORD=":                                            "",
		"HOME=/root/secret-n":                                  "",
		"KEYBOARD=secret-o":                                    "",
		"SSH_AUTH_SOCK=/tmp/secret-p":                          "",
		"URL=https://example.com/@secret-q":                    "",
	} {
		var r redact.Redactor
		r.AddEnviron([]string{variable})
		_, value, _ := strings.Cut(variable, "=")
		want := "value " + value
		if secret != "" {
			want = strings.ReplaceAll(want, secret, redact.Replacement)
		}
		if got := r.Redact("value " + value); got != want {
			t.Errorf("%s: %q, want %q", variable, got, want)
		}
	}
}
