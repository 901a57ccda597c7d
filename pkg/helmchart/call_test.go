package helmchart_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// exit is the error of a program that has ended.
type exit int

func (e exit) Error() string { return "exit status" }
func (e exit) ExitCode() int { return int(e) }

func TestRuntime(t *testing.T) {
	t.Parallel()
	var description string
	runtime := helmchart.Runtime{Run: func(_ context.Context, d string, in io.Reader, out, _ io.Writer, args ...string) error {
		description = d + " " + strings.Join(args, " ")
		var request map[string]any
		if err := json.NewDecoder(in).Decode(&request); err != nil {
			return err
		}
		if request["protocol"] != float64(helmchart.Protocol) {
			t.Errorf("the request is %v", request)
		}
		_, err := io.WriteString(out, `{"chart": {"name": "redis"}, "files": {"Chart.yaml": "bmFtZQ=="}, "renderings": [{"error": "no"}]}`)
		return err
	}}
	fetched, err := runtime.Fetch(t.Context(), helmchart.FetchRequest{Chart: "https://user:word@example.com/a/redis.tgz?token=word"})
	if err != nil || fetched.Chart.Name != "redis" || string(fetched.Files["Chart.yaml"]) != "name" {
		t.Errorf("Fetch returns %+v, %v", fetched, err)
	}
	if want := "fetching chart https://example.com/a/redis.tgz chart fetch"; description != want {
		t.Errorf("Fetch describes itself as %q, want %q", description, want)
	}
	rendered, err := runtime.Render(t.Context(), helmchart.RenderRequest{})
	if err != nil || len(rendered.Renderings) != 1 || rendered.Renderings[0].Error != "no" {
		t.Errorf("Render returns %+v, %v", rendered, err)
	}
}

func TestRuntimeErrors(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	const versions = "; operon v1.2.3 needs protocol 1: install the same version of both programs"
	for name, test := range map[string]struct {
		ctx                 context.Context
		out, errOut         string
		err                 error
		want                string
		mismatch, unchanged bool
	}{
		"printed":         {errOut: "level=WARN\nerror: chart \"x\" not found\n  in repository y\n", err: exit(1), want: "chart \"x\" not found\n  in repository y"},
		"protocol":        {errOut: "error: operon-runtime v9 supports protocol 9, but the request has protocol 1\n", err: exit(3), want: "operon-runtime v9 supports protocol 9, but the request has protocol 1" + versions, mismatch: true},
		"unknown command": {errOut: "error: unknown command\n", err: exit(2), want: "unknown command" + versions, mismatch: true},
		"no answer":       {out: "{", want: "operon-runtime: invalid answer: unexpected end of JSON input" + versions, mismatch: true},
		"killed":          {errOut: "error: early\n", err: exit(-1), want: "operon-runtime ended unexpectedly: exit status: error: early"},
		"nothing":         {err: exit(1), want: "operon-runtime ended unexpectedly: exit status"},
		"panic":           {errOut: strings.Repeat("x\n", 100_000) + "panic: y\n\ngoroutine 1 [running]:\n", err: exit(2), want: "operon-runtime ended unexpectedly: exit status: panic: y"},
		"memory":          {errOut: "fatal error: runtime: out of memory\n\ngoroutine 1 [running]:\nmain.main()\n", err: exit(2), want: "operon-runtime ended unexpectedly: exit status: fatal error: runtime: out of memory"},
		"not started":     {err: io.ErrClosedPipe, want: "io: read/write on closed pipe", unchanged: true},
		"canceled":        {ctx: canceled, errOut: "error: interrupted\n", err: exit(1), want: "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runtime := helmchart.Runtime{Version: "v1.2.3", Run: func(_ context.Context, _ string, _ io.Reader, out, errOut io.Writer, _ ...string) error {
				_, _ = io.WriteString(out, test.out)
				_, _ = io.WriteString(errOut, test.errOut)
				return test.err
			}}
			ctx := test.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			_, err := runtime.Render(ctx, helmchart.RenderRequest{})
			if err == nil || err.Error() != test.want {
				t.Errorf("error %q, want %q", err, test.want)
			}
			if _, ok := errors.AsType[*helmchart.ProtocolError](err); ok != test.mismatch {
				t.Errorf("a mismatch of versions is %t, want %t", ok, test.mismatch)
			}
			if test.unchanged && !errors.Is(err, test.err) {
				t.Error("the error is not Run's")
			}
		})
	}
}
