package release

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestOutages fails each request of an operation once, as with an expired token. The operation is repeated and then ends as if
// nothing had happened.
func TestOutages(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"install", "upgrade", "repair", "uninstall"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			chart := e.chart(failingChart)
			for n := 1; ; n++ {
				v := "0"
				r := e.release(chart, values("v", v))
				if operation != "install" {
					e.converge(r)
				}
				switch operation {
				case "upgrade":
					v = "1"
					r = e.release(chart, values("v", v))
				case "repair":
					e.remove("v1 ConfigMap before")
				}
				failed := e.outage(n)
				ended, err := e.pass(r, operation)
				if !failed() {
					if err != nil || n < 5 {
						t.Errorf("%d requests, error %v", n-1, err)
					}
					return
				}
				if err != nil && !IsTransient(err) {
					t.Errorf("request %d: %v", n, err)
				}
				if operation == "uninstall" {
					if !ended {
						e.uninstall(chart)
					}
					e.mustNot("v1 ConfigMap before")
					continue
				}
				e.converge(r)
				if got := e.field("v1 ConfigMap before", "data", "v"); got != v {
					t.Errorf("request %d: v %s, want %s", n, got, v)
				}
				e.uninstall(chart)
			}
		})
	}
}

// outage lets the n-th request from now fail. It returns a function that reports whether there was one.
func (e *env) outage(n int) (failed func() bool) {
	e.requests.mutex.Lock()
	defer e.requests.mutex.Unlock()
	e.requests.intercept = func(*http.Request) *http.Response {
		e.requests.mutex.Lock()
		defer e.requests.mutex.Unlock()
		if n--; n != 0 {
			return nil
		}
		body := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`
		return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(body))}
	}
	return func() bool {
		e.requests.mutex.Lock()
		defer e.requests.mutex.Unlock()
		return n <= 0
	}
}

// converge repeats passes until nothing is left to do.
func (e *env) converge(r *Release) {
	e.Helper()
	var err error
	for range 5 {
		var ended bool
		if ended, err = e.pass(r, ""); ended {
			e.settled(r)
			return
		}
	}
	e.Fatalf("not settled: %v, records %s", err, e.records())
}

// pass uninstalls, or does what the plan says. It reports whether nothing is left to do.
func (e *env) pass(r *Release, operation string) (ended bool, err error) {
	ctx := context.Background()
	if operation == "uninstall" {
		removal, err := r.Uninstall(ctx, UninstallOptions{})
		return err == nil && removal.Done, err
	}
	plan, err := r.Plan(ctx)
	if err != nil {
		return false, err
	}
	switch plan.Action {
	case Install:
		_, err = r.Install(ctx)
	case Upgrade:
		_, err = r.Upgrade(ctx, UpgradeOptions{})
	default:
		_, _, err = r.Repair(ctx)
		return err == nil, err
	}
	return false, err
}
