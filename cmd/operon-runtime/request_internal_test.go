package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// runCommand runs the program with a text on stdin and an empty environment.
func runCommand(t *testing.T, in string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), streams{strings.NewReader(in), &o, &e, nil}, args)
	return code, o.String(), e.String()
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		request string
		code    int
		want    string
	}{
		{`{"protocol": 99, "files": 1}`, helmchart.ExitProtocol, "supports protocol 1, but the request has protocol 99\n"},
		{`{}`, helmchart.ExitProtocol, "but the request has protocol 0\n"},
		{`{"protocol": 1, "files": 1}`, exitFailed, "error: decoding the request: json: cannot unmarshal number"},
		{`{`, exitFailed, "error: decoding the request: unexpected end of JSON input\n"},
	} {
		code, out, errOut := runCommand(t, test.request, "operon-runtime", "chart", "render")
		if code != test.code || out != "" || !strings.HasPrefix(errOut, "error: ") || !strings.Contains(errOut, test.want) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q; want %d and %q", test.request, code, out, errOut, test.code, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{helmOperator, ansibleOperator} {
		for _, args := range [][]string{{"operon-runtime", name, "version"}, {"/usr/local/bin/" + name, "version"}, {name + ".exe", "version"}} {
			if code, out, errOut := runCommand(t, "", args...); code != 0 || !strings.HasPrefix(out, name+` version: "v`) {
				t.Errorf("%q: exit code %d, %s%s", args, code, out, errOut)
			}
		}
		if code, _, errOut := runCommand(t, "", name, "chart"); code != exitUsage || !strings.Contains(errOut, `"chart"`) {
			t.Errorf("%s chart: exit code %d, %s", name, code, errOut)
		}
	}
}
