// Package transport limits the time and size of HTTP requests. Transport is an http.RoundTripper that applies Limits to
// each phase of a request: a server that stalls or sends without end causes a TimeoutError or a SizeError.
package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"
)

// Limits bounds requests. A field that is zero has its default.
type Limits struct {
	// Connect bounds the time to look up a server, connect to it and complete the TLS handshake.
	Connect time.Duration
	// Document bounds the time of a whole request for a document.
	Document time.Duration
	// Response bounds the time until the response to any other request begins, and Upload the same after a request's body,
	// which the server may have to store first.
	Response, Upload time.Duration
	// Idle bounds the time in which the next KiB of any other body is transferred.
	Idle time.Duration
	// Notice is the time after which a request is reported to Transport.Waiting.
	Notice time.Duration
	// Size bounds documents, in bytes.
	Size int64
}

func (l Limits) orDefault() Limits {
	return Limits{
		Connect:  cmp.Or(l.Connect, 10*time.Second),
		Document: cmp.Or(l.Document, 20*time.Second),
		Response: cmp.Or(l.Response, 25*time.Second),
		Upload:   cmp.Or(l.Upload, time.Minute),
		Idle:     cmp.Or(l.Idle, 20*time.Second),
		Notice:   cmp.Or(l.Notice, 2*time.Second),
		Size:     cmp.Or(l.Size, 4<<20),
	}
}

const (
	// minProgress is how many bytes must be transferred within Limits.Idle.
	minProgress = 1 << 10
	// maxErrorBody bounds the bodies of responses other than 2xx. The rest is cut off, as the status is what counts.
	maxErrorBody = 64 << 10
)

// Transport carries requests within limits.
type Transport struct {
	// Base sends the requests; nil is http.DefaultTransport.
	Base   http.RoundTripper
	Limits Limits
	// IsBlob reports whether the response to a request is a body of any size, which is read as it arrives. Other responses
	// are documents: RoundTrip reads them completely. Nil means that there are no documents.
	IsBlob func(*http.Request) bool
	// Notify, if not nil, is called once for each request that takes longer than Limits.Notice. It may be called from
	// several goroutines, but not after the request has ended.
	Notify func(host, waitingFor string)
}

// RoundTrip sends a request. It returns a *TimeoutError or a *SizeError where a limit is exceeded.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	x := t.begin(request)
	sent := request.WithContext(httptrace.WithClientTrace(x.ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { x.connected() },
		WroteRequest: func(httptrace.WroteRequestInfo) { x.wait(waiting) },
	}))
	if x.uploads {
		sent.Body = &upload{request.Body, x}
		if request.GetBody != nil {
			sent.GetBody = func() (io.ReadCloser, error) {
				body, err := request.GetBody()
				return &upload{body, x}, err
			}
		}
	}
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	response, err := base.RoundTrip(sent)
	switch {
	case err != nil:
		err = x.explain(err)
	case request.Method == http.MethodHead:
	case response.StatusCode >= http.StatusMultipleChoices:
		x.wait(receiving)
		// An error after the status does not matter.
		data, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
		replaceBody(response, data)
	case x.blob:
		x.pause(receiving)
		response.Body = &download{response.Body, x}
		return response, nil
	default:
		x.wait(receiving)
		err = x.readDocument(response)
	}
	x.end()
	if err != nil {
		return nil, err
	}
	return response, nil
}

func (x *exchange) readDocument(response *http.Response) error {
	size := x.limits.Size
	if response.ContentLength > size {
		_ = response.Body.Close()
		return &SizeError{Limit: size}
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, size+1))
	if err != nil {
		_ = response.Body.Close()
		return x.explain(err)
	}
	replaceBody(response, data)
	if int64(len(data)) > size {
		return &SizeError{Limit: size}
	}
	return nil
}

func replaceBody(response *http.Response, data []byte) {
	_ = response.Body.Close()
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
}

// download is the body of a blob.
type download struct {
	body io.ReadCloser
	x    *exchange
}

func (d *download) Read(p []byte) (int, error) {
	d.x.resume(receiving)
	n, err := d.body.Read(p)
	d.x.pause(receiving)
	d.x.transferred(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = d.x.explain(err)
	}
	return n, err
}

func (d *download) Close() error {
	err := d.body.Close()
	d.x.end()
	return err
}

// upload is the body of a request. Between two reads it is sent.
type upload struct {
	body io.ReadCloser
	x    *exchange
}

func (u *upload) Read(p []byte) (int, error) {
	u.x.pause(sending)
	n, err := u.body.Read(p)
	u.x.transferred(n)
	u.x.resume(sending)
	return n, err
}

func (u *upload) Close() error { return u.body.Close() }

// A TimeoutError reports a server that exceeded a limit of time.
type TimeoutError struct {
	// Host is the server with its port, as in the URL.
	Host string
	// Limit is the exceeded limit.
	Limit time.Duration
	at    phase
	blob  bool
}

func (e *TimeoutError) Error() string {
	switch {
	case e.at == connecting:
		return fmt.Sprintf("no connection to %s within %s", e.Host, e.Limit)
	case e.at == waiting:
		return fmt.Sprintf("%s accepted the connection and did not respond within %s", e.Host, e.Limit)
	case e.at == sending:
		return fmt.Sprintf("%s accepted less than 1 KiB within %s", e.Host, e.Limit)
	case e.blob:
		return fmt.Sprintf("%s sent less than 1 KiB within %s", e.Host, e.Limit)
	}
	return fmt.Sprintf("%s did not complete its response within %s", e.Host, e.Limit)
}

// A SizeError reports a document that is larger than Limits.Size.
type SizeError struct {
	// Limit is in bytes.
	Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the response is larger than %d MiB", e.Limit>>20)
}

// begin starts the limits of a request.
func (t *Transport) begin(request *http.Request) *exchange {
	x := &exchange{
		host: request.URL.Host, limits: t.Limits.orDefault(), notify: t.Notify,
		blob:    t.IsBlob == nil || t.IsBlob(request),
		uploads: request.Body != nil && request.Body != http.NoBody,
	}
	x.ctx, x.cancel = context.WithCancelCause(request.Context())
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.blob && !x.uploads {
		x.last = time.Now().Add(x.limits.Document)
	}
	x.timer = time.AfterFunc(time.Hour, x.expire)
	x.notice = time.AfterFunc(x.limits.Notice, x.report)
	x.limit(connecting, x.limits.Connect)
	return x
}
