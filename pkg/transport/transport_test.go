package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/transport"
)

// short has limits that are short enough for a test.
var short = transport.Limits{
	Connect: 200 * time.Millisecond, Document: 300 * time.Millisecond, Response: 250 * time.Millisecond,
	Upload: 250 * time.Millisecond, Idle: 200 * time.Millisecond, Notice: 50 * time.Millisecond, Size: 4 << 20,
}

// listen starts a server whose connections are served by a function. It returns its host and port.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var connections sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); connections.Wait() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { defer c.Close(); serve(c) })
		}
	}()
	return listener.Addr().String()
}

// untilClosed reads what a client sends until it closes the connection.
func untilClosed(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// respond returns a server that sends text after the first bytes of a request, and then repeats another text.
func respond(text, repeated string, every time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := c.Read(make([]byte, 64<<10)); err != nil {
			return
		}
		_, err := io.WriteString(c, text)
		for err == nil && repeated != "" {
			time.Sleep(every)
			_, err = io.WriteString(c, repeated)
		}
		if repeated == "" {
			untilClosed(c)
		}
	}
}

const ok = "HTTP/1.1 200 OK\r\n"

// TestHostileServers sends requests to servers that stall, send without end or close the connection.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	endless := "10000\r\n" + strings.Repeat(" ", 1<<16) + "\r\n"
	for _, c := range []struct {
		name   string
		method string
		url    string
		serve  func(net.Conn)
		want   string
	}{
		{name: "no TLS handshake", url: "https://HOST/document", serve: untilClosed, want: "no connection to HOST within 200ms"},
		{name: "no response", serve: untilClosed, want: "HOST accepted the connection and did not respond within 300ms"},
		{name: "no response with a blob", url: "http://HOST/blob", serve: untilClosed, want: "HOST accepted the connection and did not respond within 250ms"},
		{name: "slow header", serve: respond(ok, "X: y\r\n", 20*time.Millisecond), want: "did not respond within 300ms"},
		{name: "no body", serve: respond(ok+"Content-Length: 10\r\n\r\n", "", 0), want: "HOST did not complete its response within 300ms"},
		{name: "slow document", serve: respond(ok+"Content-Length: 1000\r\n\r\n", " ", 20*time.Millisecond), want: "did not complete its response within 300ms"},
		{name: "slow blob", url: "http://HOST/blob", serve: respond(ok+"Content-Length: 1000000\r\n\r\n", " ", 20*time.Millisecond), want: "HOST sent less than 1 KiB within 200ms"},
		{name: "declared size", serve: respond(ok+"Content-Length: 5000000\r\n\r\n", "", 0), want: "the response is larger than 4 MiB"},
		{name: "endless document", serve: respond(ok+"Transfer-Encoding: chunked\r\n\r\n", endless, 0), want: "the response is larger than 4 MiB"},
		{name: "endless error", serve: respond("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n", endless, 0), want: "404 with 65536 bytes"},
		{name: "slow error", serve: respond("HTTP/1.1 404 Not Found\r\nContent-Length: 1000\r\n\r\n", " ", 20*time.Millisecond), want: "404 with "},
		{name: "closed", serve: func(c net.Conn) { _, _ = c.Read(make([]byte, 1<<10)) }, want: "HOST closed the connection without a response (EOF)"},
		{name: "closed in the body", serve: func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1<<10))
			_, _ = io.WriteString(c, ok+"Content-Length: 10\r\n\r\n12345")
		}, want: "HOST closed the connection in the middle of its response (EOF)"},
		{name: "reset", serve: func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1<<10))
			_ = c.(*net.TCPConn).SetLinger(0)
		}, want: "HOST closed the connection without a response (connection reset)"},
		{name: "not HTTP", serve: respond("SSH-2.0-\x1b[31mOpenSSH\r\n\r\n", "", 0), want: "HOST is not an HTTP server"},
		{name: "upload without response", method: http.MethodPut, serve: untilClosed, want: "did not respond within 250ms"},
		{name: "upload that is not read", method: http.MethodPut, serve: func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); time.Sleep(time.Second) }, want: "HOST accepted less than 1 KiB within 200ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			host := listen(t, c.serve)
			base := &http.Transport{}
			t.Cleanup(base.CloseIdleConnections)
			client := http.Client{Transport: &transport.Transport{Base: base, Limits: short, IsBlob: func(r *http.Request) bool { return r.URL.Path == "/blob" }}}
			url, method, body := "http://HOST/document", http.MethodGet, io.Reader(nil)
			if c.url != "" {
				url = c.url
			}
			if c.method != "" {
				method, body = c.method, io.LimitReader(zeros{}, 64<<20)
			}
			request, err := http.NewRequestWithContext(t.Context(), method, strings.ReplaceAll(url, "HOST", host), body)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			got := exchange(&client, request)
			if want := strings.ReplaceAll(c.want, "HOST", host); !strings.Contains(got, want) {
				t.Errorf("error %q, want %q", got, want)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("request took %s, want at most 5s", took)
			}
		})
	}
}

// exchange returns the error of a request, or the status and the length of its response.
func exchange(client *http.Client, request *http.Request) string {
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(response.Status, " Not Found") + " with " + strconv.Itoa(len(data)) + " bytes"
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestSlowReader checks that the limits do not count the time that the client itself takes, and that a blob may take
// longer than all limits while its bytes arrive.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	part := strings.Repeat("x", 4<<10)
	host := listen(t, respond(ok+"Content-Length: 40960\r\n\r\n", part, 60*time.Millisecond))
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	client := http.Client{Transport: &transport.Transport{Base: base, Limits: short}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	time.Sleep(2 * short.Response)
	if data, err := io.ReadAll(response.Body); err != nil || len(data) != 10*len(part) {
		t.Errorf("read %d bytes (%v), want %d", len(data), err, 10*len(part))
	}
}

// TestNotify checks that a slow request is reported once, and fails with the cause of its context.
func TestNotify(t *testing.T) {
	t.Parallel()
	host := listen(t, untilClosed)
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	var notices []string
	client := http.Client{Transport: &transport.Transport{Base: base, Limits: transport.Limits{Notice: short.Notice}, Notify: func(host, waitingFor string) {
		notices = append(notices, host+" "+waitingFor)
	}}}
	cause := errors.New("the test ends")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 4*short.Notice, cause)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(request); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
	if len(notices) != 1 || notices[0] != host+" to respond" {
		t.Errorf("notices %q, want one", notices)
	}
}
