package release

import (
	"net/http"
	"strings"
	"sync"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
)

// A requestLog records requests to the API server, and fails some.
type requestLog struct {
	mutex sync.Mutex
	list  []string
	// intercept may answer a request.
	intercept func(*http.Request) *http.Response
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (l *requestLog) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		l.mutex.Lock()
		l.list = append(l.list, request.Method+" "+request.URL.RequestURI())
		intercept := l.intercept
		l.mutex.Unlock()
		if intercept != nil {
			if response := intercept(request); response != nil {
				response.Request = request
				return response, nil
			}
		}
		return next.RoundTrip(request)
	})
}

// take returns the requests since the last call that contain a text.
func (l *requestLog) take(contains string) []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var found []string
	for _, request := range l.list {
		if strings.Contains(request, contains) {
			found = append(found, request)
		}
	}
	l.list = nil
	return found
}

// install plans and installs.
func (e *env) install(r *Release) *Deployed {
	e.Helper()
	e.plan(r, Install)
	deployed, err := r.Install(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return deployed
}

// upgrade plans and upgrades.
func (e *env) upgrade(r *Release) *Deployed {
	e.Helper()
	e.plan(r, Upgrade)
	deployed, err := r.Upgrade(e.Context(), UpgradeOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return deployed
}

func (e *env) plan(r *Release, want Action) Plan {
	e.Helper()
	plan, err := r.Plan(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	if plan.Action != want {
		e.Fatalf("plan: %s (%s), want %s", plan.Action, plan.Reason, want)
	}
	return plan
}

// settled checks that nothing is left to do.
func (e *env) settled(r *Release) Plan {
	e.Helper()
	plan := e.plan(r, None)
	if repaired := e.repair(r); len(repaired) > 0 {
		e.Errorf("repaired %v", repaired)
	}
	return plan
}

func (e *env) repair(r *Release) []Repaired {
	e.Helper()
	_, repaired, err := r.Repair(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return repaired
}

func (e *env) uninstall(chart *chartv2.Chart) *Removal {
	e.Helper()
	removal, err := e.release(chart, nil).Uninstall(e.Context(), UninstallOptions{})
	if err != nil {
		e.Fatal(err)
	}
	if records := e.records(); records != "" {
		e.Errorf("records are left: %s", records)
	}
	return removal
}
