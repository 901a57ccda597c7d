package gateway

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A backend is an API server that answers watches with lines, and other requests with their method, path and body.
type backend struct {
	server   *httptest.Server
	requests atomic.Int32
	lines    chan string
	records  records
}

const backendToken = "backend"

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.requests.Add(1)
	if r.Header.Get("Authorization") != "Bearer "+backendToken {
		http.Error(w, "wrong token", http.StatusForbidden)
		return
	}
	if r.URL.Query().Has("watch") {
		w.WriteHeader(http.StatusOK)
		for {
			_ = http.NewResponseController(w).Flush() // fails if the gateway has gone, and so does the context
			select {
			case line := <-b.lines:
				fmt.Fprintln(w, line)
			case <-r.Context().Done():
				return
			}
		}
	}
	body, _ := io.ReadAll(r.Body) // incomplete bodies fail the comparison
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
	}
	fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
}

// records are the requests of a test.
type records struct {
	mu   sync.Mutex
	list []Record
}

func (r *records) add(record Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, record)
}

// texts returns the requests with the codes of the program and of the API server.
func (r *records) texts() (texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, record := range r.list {
		texts = append(texts, fmt.Sprintf("%s: %d %d", record.Request, record.Code, record.ServerCode))
	}
	return texts
}

// start returns a gateway before a backend, and a client of the gateway.
func start(t testing.TB, http2 bool) (*Gateway, *backend, *http.Client) {
	t.Helper()
	b := &backend{lines: make(chan string)}
	b.server = httptest.NewUnstartedServer(b)
	b.server.EnableHTTP2 = true
	b.server.StartTLS()
	t.Cleanup(b.server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.server.Certificate().Raw})
	g, err := Start(Options{URL: b.server.URL, CAData: ca, Token: backendToken, Seed: 1, Record: b.records.add})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Stop)
	g.SetTokens("good")
	match := regexp.MustCompile("certificate-authority-data: ([^}]*)}").FindSubmatch(g.Kubeconfig("token"))
	pool := x509.NewCertPool()
	if data, err := base64.StdEncoding.DecodeString(string(match[1])); err != nil || !pool.AppendCertsFromPEM(data) {
		t.Fatalf("kubeconfig:\n%s", g.Kubeconfig("token"))
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2}
	t.Cleanup(transport.CloseIdleConnections)
	return g, b, &http.Client{Transport: transport, Timeout: time.Minute}
}

// send sends a request and returns the code and the body, or the error.
func send(t testing.TB, c *http.Client, method, url, token, body string) (code int, text string, err error) {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := c.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, string(data), err
}

const configMaps = "/api/v1/namespaces/a/configmaps"

// forEachProtocol runs a test with HTTP/1.1 and with HTTP/2.
func forEachProtocol(t *testing.T, test func(t *testing.T, http2 bool)) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2=%t", http2), func(t *testing.T) {
			t.Parallel()
			test(t, http2)
		})
	}
}

func TestForward(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, http2 bool) {
		g, b, c := start(t, http2)
		body := `{"metadata": {"name": "one"}}`
		if code, text, err := send(t, c, "POST", g.URL+configMaps+"?fieldManager=x", "good", body); code != 201 || text != "POST "+configMaps+"?fieldManager=x "+body {
			t.Errorf("POST: %d %s (%v)", code, text, err)
		}
		for _, method := range []string{"GET", "PATCH"} {
			if code, _, err := send(t, c, method, g.URL+configMaps+"/one", "good", ""); code != 200 {
				t.Errorf("%s: %d (%v)", method, code, err)
			}
		}
		if code, text, _ := send(t, c, "GET", g.URL+configMaps, "old", ""); code != 401 || !strings.Contains(text, `"reason":"Unauthorized"`) {
			t.Errorf("an old token: %d %s", code, text)
		}
		if n := b.requests.Load(); n != 3 {
			t.Errorf("the backend has %d requests", n)
		}
		want := []string{"create configmaps a/one: 201 201", "get configmaps a/one: 200 200", "patch configmaps a/one: 200 200", "list configmaps a/: 401 0"}
		if got := b.records.texts(); !slices.Equal(got, want) {
			t.Errorf("records:\n%q\nwant:\n%q", got, want)
		}
		if created := b.records.list[0]; !created.Created() || created.FieldManager != "x" || created.Version != "v1" || created.Start.IsZero() || created.Duration <= 0 {
			t.Errorf("record %+v", created)
		}
		g.SetTokens("new")
		if code, _, _ := send(t, c, "GET", g.URL+configMaps+"/one", "new", ""); code != 200 {
			t.Errorf("a new token: %d", code)
		}
	})
}

func TestParseRequest(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"GET /apis/apps/v1/deployments?watch=true":                                "watch deployments.apps /",
		"GET /api/v1/namespaces/a":                                                "get namespaces /a",
		"PUT /api/v1/namespaces/a/finalize":                                       "update namespaces/finalize /a",
		"DELETE /api/v1/namespaces/a/secrets":                                     "deletecollection secrets a/",
		"PATCH /apis/x.example.com/v1/namespaces/a/apps/b/status":                 "patch apps.x.example.com/status a/b",
		"PATCH /api/v1/namespaces/a/configmaps/b?dryRun=All&fieldManager=x":       "patch configmaps a/b (dry run)",
		"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews":             "create selfsubjectaccessreviews.authorization.k8s.io /",
		"GET /apis/apps/v1":                                                       "get /apis/apps/v1",
		"GET /readyz":                                                             "get /readyz",
		"DELETE /apis/coordination.k8s.io/v1/namespaces/a/leases/b?watch=invalid": "delete leases.coordination.k8s.io a/b",
	} {
		method, target, _ := strings.Cut(line, " ")
		got, err := parseRequest(httptest.NewRequest(method, target, nil))
		if err != nil || got.String() != want {
			t.Errorf("%s: %s, want %s (%v)", line, got, want, err)
		}
		if write := method != "GET" && !got.DryRun && got.Group != "authorization.k8s.io"; got.IsWrite() != write {
			t.Errorf("%s: write %t", line, got.IsWrite())
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, http2 bool) {
		g, b, c := start(t, http2)
		get := func(path string) string {
			code, _, err := send(t, c, "GET", g.URL+path, "good", "")
			if err != nil {
				return "reset"
			}
			return fmt.Sprint(code)
		}
		remove := g.Add(Rule{Match: func(r Request) bool { return r.Resource == "configmaps" }, Skip: 1, Times: 2, Fault: TooManyRequests(3 * time.Second)})
		if got := get(configMaps) + get("/readyz") + get(configMaps) + get(configMaps) + get(configMaps); got != "200200429429200" {
			t.Errorf("codes %s", got)
		}
		remove()
		request, _ := http.NewRequest("GET", g.URL+configMaps, nil)
		request.Header.Set("Authorization", "Bearer good")
		g.Add(Rule{Times: 1, Fault: TooManyRequests(3 * time.Second)})
		if response, err := c.Do(request); err != nil || response.Header.Get("Retry-After") != "3" {
			t.Errorf("Retry-After: %v (%v)", response, err)
		}
		before := b.requests.Load()
		// The transport of Go repeats a GET that an HTTP/1.1 connection has lost.
		remove = g.Add(Rule{Fault: Reset()})
		if got := get(configMaps); got != "reset" || b.requests.Load() != before {
			t.Errorf("code %s, want a reset", got)
		}
		remove()
		remove = g.Add(Rule{Fault: LoseResponse()})
		if got := get(configMaps); got != "reset" || b.requests.Load() == before {
			t.Errorf("code %s, want a reset after the request", got)
		}
		remove()
		g.Add(Rule{Times: 1, Fault: Slow(time.Millisecond)})
		if got := get(configMaps); got != "200" {
			t.Errorf("code %s", got)
		}
	})
}

// TestShare checks that a share depends on the seed and on requests, not on their order.
func TestShare(t *testing.T) {
	t.Parallel()
	pick := func(seed uint64, reverse bool) (picked string, count int) {
		rule := &activeRule{Rule: Rule{Name: "x", Share: 0.3}, occurrences: map[string]int{}}
		chosen := make([]bool, 1000)
		for i := range chosen {
			if reverse {
				i = len(chosen) - 1 - i
			}
			chosen[i] = rule.take(Request{Verb: "get", Resource: "pods", Name: fmt.Sprint(i)}, seed)
		}
		for _, c := range chosen {
			if c {
				count++
			}
		}
		return fmt.Sprint(chosen), count
	}
	first, count := pick(1, false)
	if count < 200 || count > 400 {
		t.Errorf("%d of 1000 requests", count)
	}
	if second, _ := pick(1, true); second != first {
		t.Error("the order of requests matters")
	}
	if third, _ := pick(2, false); third == first {
		t.Error("the seed doesn't matter")
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, http2 bool) {
		for _, side := range []Side{Before, After} {
			g, b, c := start(t, http2)
			hold := g.Hold(2, side, Request.IsWrite)
			url := g.URL + configMaps + "/one"
			for _, method := range []string{"PUT", "GET"} { // reads don't count
				if code, _, err := send(t, c, method, url, "good", ""); code != 200 {
					t.Errorf("%s: %d (%v)", method, code, err)
				}
			}
			ended := make(chan error)
			go func() {
				_, _, err := send(t, c, "PATCH", url, "good", "x")
				ended <- err
			}()
			if held := <-hold.Reached(); held.String() != "patch configmaps a/one" {
				t.Errorf("held %s", held)
			}
			if n, want := b.requests.Load(), 2+int32(side); n != want {
				t.Errorf("%s: the backend has %d requests, want %d", side, n, want)
			}
			hold.Release()
			if err := <-ended; err == nil {
				t.Errorf("%s: the request has an answer", side)
			}
			if code, _, err := send(t, c, "PATCH", url, "good", "x"); code != 200 {
				t.Errorf("after the hold: %d (%v)", code, err)
			}
			want := []string{
				"update configmaps a/one: 200 200", "get configmaps a/one: 200 200",
				"patch configmaps a/one: 0 " + map[Side]string{Before: "0", After: "200"}[side], "patch configmaps a/one: 200 200",
			}
			if got := b.records.texts(); !slices.Equal(got, want) {
				t.Errorf("%s: records %q, want %q", side, got, want)
			}
		}
	})
}

func TestWatches(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, http2 bool) {
		g, b, c := start(t, http2)
		request, _ := http.NewRequest("GET", g.URL+configMaps+"?watch=true", nil)
		request.Header.Set("Authorization", "Bearer good")
		response, err := c.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }() // the gateway ends it
		lines := bufio.NewScanner(response.Body)
		for _, line := range []string{"one", "two"} {
			b.lines <- line
			if !lines.Scan() || lines.Text() != line {
				t.Fatalf("got %q, want %q (%v)", lines.Text(), line, lines.Err())
			}
		}
		if n := g.CutWatches(); n != 1 {
			t.Errorf("%d watches", n)
		}
		if lines.Scan() || lines.Err() == nil {
			t.Errorf("the watch isn't reset: %q (%v)", lines.Text(), lines.Err())
		}
	})
}

func TestConnections(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, http2 bool) {
		g, b, c := start(t, http2)
		get := func() (uint64, error) {
			request, _ := http.NewRequest("GET", g.URL+configMaps, nil)
			request.Header.Set("Authorization", "Bearer good")
			response, err := c.Do(request)
			if err != nil {
				return 0, err
			}
			_, _ = io.Copy(io.Discard, response.Body) // the code counts
			_ = response.Body.Close()
			return response.TLS.PeerCertificates[0].SerialNumber.Uint64(), nil
		}
		// eventually repeats requests that use a connection just before the client sees its end.
		eventually := func(what string, done func() bool) {
			t.Helper()
			for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal(what)
				}
			}
		}
		before, err := get()
		if err != nil {
			t.Fatal(err)
		}
		if err := g.RotateCertificate(); err != nil {
			t.Fatal(err)
		}
		eventually("the certificate isn't replaced", func() bool { after, err := get(); return err == nil && after != before })
		g.Refuse()
		if _, err := get(); err == nil {
			t.Error("a request is answered while the gateway refuses connections")
		}
		g.Accept()
		eventually("no request is answered after Accept", func() bool { _, err := get(); return err == nil })
		b.server.CloseClientConnections()
		b.server.Listener.Close()
		eventually("a request is answered without an API server", func() bool { _, err := get(); return err != nil })
		if g.Unreached() == 0 {
			t.Error("the requests aren't counted")
		}
	})
}

// TestCertificateLasts uses certificates that are valid for longer than a developer leaves an operator running.
func TestCertificateLasts(t *testing.T) {
	t.Parallel()
	g, _, _ := start(t, false)
	serving, err := x509.ParseCertificate(g.serving.Load().Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, certificate := range []*x509.Certificate{serving, g.authority.cert} {
		if left := time.Until(certificate.NotAfter); left < 365*24*time.Hour {
			t.Errorf("the certificate of %s is valid for %s", certificate.Subject.CommonName, left)
		}
	}
}
