package preview

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func newPreview(t *testing.T, o Options) *Preview {
	t.Helper()
	o.Now = time.Now
	o.Progressf, o.Warnf = t.Logf, t.Logf
	return New(o)
}

// write returns a write with its result.
func write(verb, resource, subresource, name string, code int, live, result string) gateway.DryWrite {
	w := gateway.DryWrite{Record: gateway.Record{
		Request:    gateway.Request{Verb: verb, Version: "v1", Resource: resource, Subresource: subresource, Namespace: "a", Name: name},
		ServerCode: code, Code: code,
	}}
	if live != "" {
		w.Live = []byte(live)
	}
	if result != "" {
		w.Result = []byte(result)
	}
	return w
}

// object returns an object in JSON with fields.
func object(kind, name, metadata, fields string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":%q,"namespace":"a"%s}%s}`, kind, name, metadata, fields)
}

// TestChanges checks which writes count as changes, and how they are shown.
func TestChanges(t *testing.T) {
	t.Parallel()
	p := newPreview(t, Options{})
	old := object("ConfigMap", "old", `,"resourceVersion":"1","generation":1,"managedFields":[{}]`, `,"data":{"k":"1"}`)
	for i := range 3 {
		created := fmt.Sprintf(`,"uid":"%d","creationTimestamp":"2026-01-01T00:00:0%dZ"`, i, i)
		p.add(write("create", "configmaps", "", "new", 201, "", object("ConfigMap", "new", created, `,"status":{}`)))
		// Only the value differs.
		p.add(write("update", "configmaps", "", "old", 200, old, object("ConfigMap", "old", `,"resourceVersion":"1","generation":2`, fmt.Sprintf(`,"data":{"k":"%d"}`, i+2))))
		p.add(write("update", "configmaps", "", "same", 200, object("ConfigMap", "same", `,"generation":1`, ""), object("ConfigMap", "same", "", "")))
		generated := fmt.Sprintf(`,"generateName":"job-","ownerReferences":[{"name":"o%d"}]`, i%2)
		name := fmt.Sprintf("job-%d", i)
		p.add(write("create", "pods", "", name, 201, "", object("Pod", name, generated, "")))
		p.add(write("patch", "pods", "status", name, 404, "", "")) // it doesn't exist
	}
	p.add(write("patch", "configmaps", "status", "old", 200, old, object("ConfigMap", "old", "", `,"data":{"k":"1"},"status":{"ready":true}`)))
	p.add(write("patch", "configmaps", "scale", "old", 200, object("Scale", "old", "", `,"spec":{"replicas":1}`), object("Scale", "old", "", `,"spec":{"replicas":2}`)))
	p.add(write("delete", "configmaps", "", "gone", 200, object("ConfigMap", "gone", "", ""), `{"kind":"Status"}`))
	p.add(write("delete", "configmaps", "", "going", 200, object("ConfigMap", "going", `,"deletionTimestamp":"2026-01-01T00:00:00Z"`, ""), ""))
	p.add(write("deletecollection", "configmaps", "", "", 200, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"one","namespace":"a"}},{"metadata":{"name":"two","namespace":"a"}}]}`, ""))
	p.add(write("create", "pods", "eviction", "p", 201, object("Pod", "p", "", ""), `{"kind":"Status"}`))
	p.add(write("create", "events", "", "e", 201, "", object("Event", "e", "", "")))
	p.add(write("patch", "configmaps", "", "hidden", 200, "", object("ConfigMap", "hidden", "", "")))
	r := p.Result()
	want := `diff --git a/configmap/a/gone b/configmap/a/gone
deleted file mode 100644
diff --git a/configmap/a/new b/configmap/a/new
new file mode 100644
diff --git a/configmap/a/old b/configmap/a/old
-  k: "1"
+  k: "2"
diff --git a/configmap/a/old/status b/configmap/a/old/status
+status:
+  ready: true
diff --git a/configmap/a/one b/configmap/a/one
deleted file mode 100644
diff --git a/configmap/a/two b/configmap/a/two
deleted file mode 100644
diff --git a/configmaps/a/old/scale b/configmaps/a/old/scale
-  replicas: 1
+  replicas: 2
diff --git a/pod/a/job-* b/pod/a/job-*
new file mode 100644
diff --git a/pod/a/job-* b/pod/a/job-*
new file mode 100644
diff --git a/pod/a/p b/pod/a/p
deleted file mode 100644
`
	if got := outline(r.Changes); got != want {
		t.Errorf("got\n%s", got)
	}
	got := *r
	got.Changes = nil
	if want := (Result{Created: 3, Changed: 2, Deleted: 4, Unchanged: 2, Repeated: 5, Events: 1,
		Unknown: []string{"configmaps/a/hidden would change, but this user can't read it, or it is too large for a diff"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// outline returns the names of files in a diff, and the changed lines of those that exist before and after.
func outline(changes []worktree.Change) string {
	var b strings.Builder
	for _, c := range changes {
		for line := range strings.Lines(worktree.Diff([]worktree.Change{c})) {
			changed := strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")
			if strings.Contains(line, " file mode") || strings.HasPrefix(line, "diff ") || changed && line[1] != line[0] && c.Old != nil && c.New != nil {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

// TestSecrets checks that no value of a Secret is shown.
func TestSecrets(t *testing.T) {
	t.Parallel()
	p := newPreview(t, Options{})
	const last = `,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"k\":\"czNjcjN0\"}}"}`
	with := func(value string) string {
		return object("Secret", "s", last, fmt.Sprintf(`,"data":{"k":%q,"same":"czNjcjN0"}`, value))
	}
	p.add(write("update", "secrets", "", "s", 200, with("czNjcjN0"), with("czNjcjN0Mg==")))
	p.add(write("create", "secrets", "", "t", 201, "", with("czNjcjN0")))
	p.add(write("delete", "secrets", "", "u", 200, with("czNjcjN0"), ""))
	diff := worktree.Diff(p.Result().Changes)
	if strings.Contains(diff, "czNjcjN0") || !strings.Contains(diff, "-  k: '*** (before)'\n+  k: '*** (after)'\n") || len(p.Result().Changes) != 3 {
		t.Errorf("the diff is\n%s", diff)
	}
}

// TestRefused checks which refused writes are reported.
func TestRefused(t *testing.T) {
	t.Parallel()
	p := newPreview(t, Options{})
	p.remote["metrics.example.com/v1"] = "monitoring/adapter"
	if got := p.refuse(gateway.Request{Group: "metrics.example.com", Version: "v1"}); !strings.Contains(got, "another API server (the Service monitoring/adapter)") {
		t.Errorf("remote: %q", got)
	}
	if got := p.refuse(gateway.Request{Group: "apps", Version: "v1"}); got != "" {
		t.Errorf("apps: %q", got)
	}
	for range 2 {
		exec := write("create", "pods", "exec", "p", 0, "", "")
		exec.Refused = "exec can't be a dry run"
		p.add(exec)
		webhook := write("create", "configmaps", "", "c", 400, "", "")
		webhook.Message = `admission webhook "w" does not support dry run`
		p.add(webhook)
		p.add(write("update", "configmaps", "", "stale", 409, "", ""))
		p.add(write("update", "configmaps", "", "missing", 404, "", ""))
		p.add(write("delete", "configmaps", "", "missing", 404, "", ""))
		p.add(write("create", "configmaps", "", "busy", 429, "", ""))
	}
	r := p.Result()
	want := []string{
		`create configmaps/a/c: the API server refuses it: admission webhook "w" does not support dry run`,
		"create pods/a/p/exec: exec can't be a dry run",
		"update configmaps/a/missing: the API server refuses it: Not Found",
	}
	if !reflect.DeepEqual(r.Refused, want) || !r.Differs() || r.Created+r.Changed+r.Deleted+len(r.Changes) > 0 {
		t.Errorf("got %+v", r)
	}
}

// TestWait checks when a preview ends.
func TestWait(t *testing.T) {
	t.Parallel()
	nothing := func() string { return "" }
	something := func() string { return "it doesn't watch" }
	for _, tc := range []struct {
		name            string
		unwatched, busy func() string
		novelty         bool
		want            string
	}{
		{"quiet", nothing, nothing, false, ""},
		{"repeats itself", nothing, something, false, ""},
		{"something new", nothing, nothing, true, "still tries to write something new; wait longer with --timeout"},
		{"not begun", something, nothing, false, "not done within 1s: it doesn't watch"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o, n := Options{Quiet: 200 * time.Millisecond, Limit: time.Second}, 0
			if tc.novelty {
				o.Quiet = 2 * o.Limit // also on a busy machine
			}
			p := newPreview(t, o)
			unwatched := func() string {
				if n++; tc.novelty {
					p.add(write("create", "configmaps", "", fmt.Sprint(n), 201, "", object("ConfigMap", fmt.Sprint(n), "", "")))
				}
				return tc.unwatched()
			}
			if err := p.Wait(t.Context(), unwatched, tc.busy); (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newPreview(t, Options{Quiet: time.Hour, Limit: time.Hour}).Wait(ctx, nothing, nothing); err != nil {
		t.Errorf("interrupted: %v", err)
	}
}
