package helmchart

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Program is the name of the program that answers requests.
const Program = "operon-runtime"

// Exit codes of Program: one for a request of another protocol, one for an unknown command, which an older program does not
// have.
const (
	ExitProtocol       = 3
	exitUnknownCommand = 2
)

// CheckProtocol returns an error if a request has another protocol than this program, which has a version.
func CheckProtocol(protocol int, version string) error {
	if protocol == Protocol {
		return nil
	}
	return &ProtocolError{fmt.Errorf("%s %s supports protocol %d, but the request has protocol %d", Program, version, Protocol, protocol)}
}

// A ProtocolError means that operon and Program have versions that do not work together.
type ProtocolError struct{ error }

func (e *ProtocolError) Unwrap() error { return e.error }

// A Runtime sends requests to Program.
type Runtime struct {
	// Version is the version of the calling program, in errors.
	Version string
	// Build returns a text that identifies the build of Program, or an empty one if it is unknown; nil is unknown.
	Build func() string
	// Run runs Program with arguments, with a description for the user that begins with a present participle. Its errors have
	// a method ExitCode if the program has ended by itself.
	Run func(ctx context.Context, description string, in io.Reader, out, errOut io.Writer, args ...string) error
}

// BuildID identifies the build of Program, or is empty. The same build gives the same answers.
func (r Runtime) BuildID() string {
	if r.Build == nil {
		return ""
	}
	return r.Build()
}

// Fetch returns the chart of a request, whose protocol is set here.
func (r Runtime) Fetch(ctx context.Context, request FetchRequest) (*FetchAnswer, error) {
	request.Protocol = Protocol
	answer := &FetchAnswer{}
	if err := r.call(ctx, "fetching chart "+withoutUserInfo(request.Chart), "fetch", request, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// Render returns the objects of a chart. The protocol of the request is set here.
func (r Runtime) Render(ctx context.Context, request RenderRequest) (*RenderAnswer, error) {
	request.Protocol = Protocol
	answer := &RenderAnswer{}
	if err := r.call(ctx, "rendering the chart", "render", request, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// withoutUserInfo returns a URL without the user, the password and the query in it, and other texts unchanged.
func withoutUserInfo(chart string) string {
	scheme, rest, ok := strings.Cut(chart, "://")
	if !ok {
		return chart
	}
	rest, _, _ = strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		return scheme + "://" + strings.TrimSuffix(host[at+1:]+"/"+path, "/")
	}
	return scheme + "://" + rest
}

// call sends a request to a chart command of Program and decodes its answer.
func (r Runtime) call(ctx context.Context, description, command string, request, answer any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encoding the request to %s: %w", Program, err)
	}
	var out bytes.Buffer
	errOut := &tail{}
	if err := r.Run(ctx, description, bytes.NewReader(data), &out, errOut, "chart", command); err != nil {
		return r.failure(ctx, err, errOut)
	}
	if err := json.Unmarshal(out.Bytes(), answer); err != nil {
		return r.mismatch(fmt.Errorf("%s: invalid answer: %w", Program, err))
	}
	return nil
}

// failure returns the error that Program has printed, or else how it has ended.
func (r Runtime) failure(ctx context.Context, err error, errOut *tail) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ended, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err)
	if !ok {
		return err
	}
	printed := errOut.message()
	switch {
	case printed == "" || ended.ExitCode() < 0: // a signal has ended it, or a panic, which has the exit code of an unknown command
		return fmt.Errorf("%s ended unexpectedly: %w%s", Program, err, errOut.cause())
	case ended.ExitCode() == ExitProtocol || ended.ExitCode() == exitUnknownCommand:
		return r.mismatch(errors.New(printed))
	}
	return errors.New(printed)
}

// mismatch adds the versions of operon to an error that another version of Program causes.
func (r Runtime) mismatch(err error) error {
	return &ProtocolError{fmt.Errorf("%w; operon %s needs protocol %d: install the same version of both programs", err, r.Version, Protocol)}
}

// maxTail limits what is kept of the output of Program.
const maxTail = 64 << 10

// tail keeps the end of what is written to it.
type tail struct{ data []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if extra := len(t.data) - maxTail; extra > 0 {
		t.data = t.data[extra:]
	}
	return len(p), nil
}

// message returns the error that Program has printed last, or "".
func (t *tail) message() string {
	text := "\n" + string(t.data)
	at := strings.LastIndex(text, "\nerror: ")
	if at < 0 {
		return ""
	}
	return strings.TrimSpace(text[at+len("\nerror: "):])
}

// cause returns ": " and the cause of a panic or the last line that was printed, or "".
func (t *tail) cause() string {
	lines := strings.Split(strings.TrimSpace(string(t.data)), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return ": " + strings.TrimSpace(line)
		}
	}
	if last := lines[len(lines)-1]; last != "" {
		return ": " + last
	}
	return ""
}
