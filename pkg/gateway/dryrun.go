package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// A DryRun makes each write of a program a server-side dry run.
type DryRun struct {
	// Refuse says why a write isn't forwarded, beyond what the gateway itself knows, or "". It may be nil.
	Refuse func(Request) string
	// Wrote is called for each write before the program gets the answer, by several goroutines at a time. Writes that the program itself
	// asked to be dry runs, and reviews such as SubjectAccessReview, which change nothing, are left out.
	Wrote func(DryWrite)
}

// A DryWrite is a write that was a dry run, or was refused.
type DryWrite struct {
	Record
	// Live is the object before the write, or the list of objects that a deletecollection selects. It is nil for a new object, if there is none, and if the user can't read it. Result is the answer. Both are JSON.
	Live, Result []byte
	// Refused says why the gateway didn't forward the write, or is "".
	Refused string
}

// all is the only value of the parameter dryRun.
const all = "All"

// forwardDry forwards a request if it can't change anything, and a write as a dry run.
func (x *Exchange) forwardDry(d *DryRun) {
	reason := x.sideEffect()
	if reason == "" && !isSafe(x.request.Method) && d.Refuse != nil {
		reason = d.Refuse(x.Request)
	}
	switch {
	case reason != "":
		x.refuse(d, reason)
	case x.isElection():
		x.elect()
	case isSafe(x.request.Method):
		x.Forward()
	default:
		x.forwardWrite()
	}
}

func (x *Exchange) refuse(d *DryRun, reason string) {
	x.reply(http.StatusForbidden, "Forbidden", "this is a preview: "+reason, 0)
	d.Wrote(DryWrite{Record: x.Record, Refused: reason})
}

// isSafe reports whether requests with a method change nothing, apart from those that open connections.
func isSafe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return false
}

// sideEffect says why a request may change something although it is a dry run, or "".
func (x *Exchange) sideEffect() string {
	r := x.request
	isClean := r.URL.Path == path.Clean(r.URL.Path) || r.URL.Path == path.Clean(r.URL.Path)+"/"
	switch {
	case !isClean:
		return "the path of the request isn't in the form that clients use"
	case r.Header.Get("Upgrade") != "":
		return "connections to containers can't be dry runs"
	}
	switch x.Subresource {
	case "exec", "attach", "portforward", "proxy":
		return x.Subresource + " can't be a dry run"
	}
	switch {
	case isSafe(r.Method):
		return ""
	case x.Resource == "":
		return "only requests for resources can be dry runs"
	case !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, r.Method):
		return "requests with the method " + r.Method + " can't be dry runs"
	case x.Group == "" && x.Resource == "bindings" || !x.canBeDry():
		return x.GroupResource() + " can't be a dry run"
	}
	return ""
}

// canBeDry reports whether the API server supports dry runs of a write to the subresource. It ignores the parameter for some, such as
// serviceaccounts/token.
func (x *Exchange) canBeDry() bool {
	switch x.Subresource {
	case "":
		return true
	case "eviction":
		return x.request.Method == http.MethodPost
	case "status", "scale", "finalize", "approval", "ephemeralcontainers", "resize":
		return x.request.Method == http.MethodPut || x.request.Method == http.MethodPatch
	}
	return false
}

// forwardWrite forwards a write as a dry run.
func (x *Exchange) forwardWrite() {
	r := x.request.Clone(x.request.Context())
	query := r.URL.Query()
	query.Set("dryRun", all)
	r.URL.RawQuery = query.Encode()
	r.Header.Set("Accept", inJSON(r.Header.Values("Accept")))
	if r.Method == http.MethodDelete {
		if err := dryOptions(r); err != nil {
			x.refuse(x.gateway.dryRun, err.Error())
			return
		}
	}
	x.request = r
	if x.IsWrite() {
		x.dry = &DryWrite{Live: x.live()}
	}
	x.Forward()
}

// wrote reports a dry run with the answer of the API server.
func (x *Exchange) wrote(answer []byte) {
	x.dry.Record, x.dry.Result = x.Record, answer
	changes := x.Verb == "update" || x.Verb == "patch"
	if changes && x.Done() && x.dry.Live != nil && decode(x.dry.Live).Metadata.ResourceVersion != x.ResourceVersion {
		x.dry.Live = x.live() // somebody has changed it meanwhile, which isn't part of the write
	}
	x.gateway.dryRun.Wrote(*x.dry)
}

// live reads what a write is about. It returns nil if there is nothing, or if that can't be read.
func (x *Exchange) live() []byte {
	if x.Verb == "create" && x.Subresource == "" {
		return nil
	}
	target := x.request.URL.EscapedPath()
	switch x.Subresource {
	case "", "status", "scale":
	default: // they have the object, and not all can be read
		target = strings.TrimSuffix(target, "/"+x.Subresource)
	}
	address := x.gateway.backend.JoinPath(target)
	if x.Verb == "deletecollection" {
		query := x.request.URL.Query()
		query.Del("dryRun")
		address.RawQuery = query.Encode()
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(x.request.Context()), http.MethodGet, address.String(), nil)
	if err != nil {
		return nil
	}
	r.Header = x.request.Header.Clone()
	for _, name := range []string{"Accept-Encoding", "Content-Length", "Content-Type"} {
		r.Header.Del(name)
	}
	x.gateway.authenticate(r)
	answer, err := x.gateway.transport.RoundTrip(r)
	if err != nil {
		return nil
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil
	}
	return body
}

// inJSON returns the value of Accept for the same objects in JSON. All clients of Kubernetes decode it, whichever encoding they prefer.
func inJSON(accept []string) string {
	var types []string
	for element := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		_, parameters, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		for name := range parameters { // others choose between encodings
			if name != "as" && name != "g" && name != "v" {
				delete(parameters, name)
			}
		}
		if text := mime.FormatMediaType(runtime.ContentTypeJSON, parameters); !slices.Contains(types, text) {
			types = append(types, text)
		}
	}
	if len(types) == 0 {
		return runtime.ContentTypeJSON
	}
	return strings.Join(types, ",")
}

// dryOptions adds dryRun to the DeleteOptions in the body of a request: with a body, the API server ignores the parameter of the URL.
func dryOptions(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return errors.New("the options of the deletion can't be read")
	}
	if len(body) > 0 {
		options, err := decodeOptions(body)
		if err != nil {
			return fmt.Errorf("the options of the deletion can't be decoded, and so it can't be a dry run: %w", err)
		}
		options["dryRun"] = []any{all}
		if body, err = json.Marshal(options); err != nil {
			return err
		}
		r.Header.Set("Content-Type", runtime.ContentTypeJSON)
	}
	r.Body, r.ContentLength = http.NoBody, int64(len(body))
	if len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	r.Header.Del("Content-Length")
	r.TransferEncoding = nil
	return nil
}

// decodeOptions decodes DeleteOptions in JSON, CBOR or protobuf.
func decodeOptions(body []byte) (options map[string]any, err error) {
	if message, ok := bytes.CutPrefix(body, []byte("k8s\x00")); ok {
		var unknown runtime.Unknown
		var typed v1.DeleteOptions
		if err := errors.Join(unknown.Unmarshal(message), typed.Unmarshal(unknown.Raw)); err != nil {
			return nil, err
		}
		typed.Kind, typed.APIVersion = unknown.Kind, unknown.APIVersion
		if body, err = json.Marshal(typed); err != nil {
			return nil, err
		}
	}
	if bytes.HasPrefix(body, []byte("\xd9\xd9\xf7")) {
		err = direct.Unmarshal(body, &options)
	} else {
		err = json.Unmarshal(body, &options)
	}
	if err == nil && options == nil {
		err = errors.New("they are null")
	}
	return options, err
}

// A guard makes sure that requests which aren't dry runs never leave a gateway with Options.DryRun, whatever the rest of it does.
type guard struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if !isSafe(r.Method) && !slices.Equal(r.URL.Query()["dryRun"], []string{all}) {
		return nil, fmt.Errorf("%s %s isn't a dry run", r.Method, r.URL.Path)
	}
	return g.next.RoundTrip(r)
}
