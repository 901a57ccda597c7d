package release

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// incompressible returns a text that gzip hardly makes smaller.
func incompressible(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 2))
	const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	text := make([]byte, n)
	for i := range text {
		text[i] = characters[random.IntN(len(characters))]
	}
	return string(text)
}

// chunkedChart has a hook, a password, notes, and values whose form a record keeps.
func chunkedChart(seed uint64) string {
	return `
-- values.yaml --
large: 9007199254740993
-- templates/NOTES.txt --
These are the notes.
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  v: {{ .Values.v | quote }}
  text: ` + incompressible(seed, 8000) + `
-- templates/s.yaml --
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {p: {{ randAlphaNum 12 }}}
-- templates/h.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: h, annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}}
-- templates/z.yaml --
{{- if .Values.invalid }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: invalid}
spec: {}
{{- end }}
`
}

// chunks returns the chunks of the release, as "v1/0".
func (e *env) chunks() []string {
	e.Helper()
	list, err := e.factory.core.Secrets(e.namespace).List(context.Background(), metav1.ListOptions{LabelSelector: chunkOfRelease})
	if err != nil {
		e.Fatal(err)
	}
	var names []string
	for _, chunk := range list.Items {
		if chunk.Type != chunkType || len(chunk.OwnerReferences) != 1 || chunk.OwnerReferences[0].UID != e.owner.GetUID() {
			e.Errorf("chunk %s: type %s, owners %v", chunk.Name, chunk.Type, chunk.OwnerReferences)
		}
		names = append(names, "v"+chunk.Labels[chunkRevision]+"/"+chunk.Labels[chunkNumber])
	}
	slices.Sort(names)
	return names
}

// limitRecords makes records of more than a few KiB be stored in chunks.
func (e *env) limitRecords() { e.factory.recordLimit = 3000 }

// TestChunks installs, upgrades, rolls back and uninstalls a release whose records do not fit into Secrets.
func TestChunks(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.limitRecords()
	files := chunkedChart(1)
	chart := e.chart(files)
	release := func(v string) *Release {
		return e.release(chart, values("v", v), func(o *Options) { o.MaxHistory = 2 })
	}
	deployed := e.install(release("1"))
	if len(e.chunks()) < 2 || strings.TrimSpace(deployed.Notes) != "These are the notes." || !strings.Contains(deployed.Manifest, "name: c") {
		t.Fatalf("chunks %v, notes %q", e.chunks(), deployed.Notes)
	}
	password := e.field("v1 Secret s", "data", "p")
	e.settled(release("1"))
	revisions, err := release("1").history()
	if err != nil || len(revisions) != 1 || len(revisions[0].Hooks) != 1 || revisions[0].Hooks[0].LastRun.Phase != "Succeeded" ||
		fmt.Sprint(revisions[0].Chart.Values["large"]) != "9.007199254740992e+15" || strings.TrimSpace(revisions[0].Info.Notes) != "These are the notes." {
		t.Fatalf("revisions %+v, %v", revisions, err)
	}

	for _, v := range []string{"2", "3"} {
		e.upgrade(release(v))
		e.settled(release(v))
	}
	if records, chunks := e.records(), strings.Join(e.chunks(), " "); records != "2 superseded, 3 deployed" || strings.Contains(chunks, "v1/") {
		t.Errorf("pruned: records %s, chunks %s", records, chunks)
	}
	if _, err := e.release(chart, values("v", "4", "invalid", true)).Upgrade(t.Context(), UpgradeOptions{}); err == nil || !strings.Contains(err.Error(), "rolled back to revision 3") {
		t.Fatalf("error %v", err)
	}
	e.connect() // another process
	e.limitRecords()
	e.settled(release("3"))
	if after := e.field("v1 Secret s", "data", "p"); after != password {
		t.Errorf("password %s, was %s", after, password)
	}
	e.uninstall(nil)
	if chunks := e.chunks(); len(chunks) > 0 {
		t.Errorf("left: %v", chunks)
	}
}

// TestChunksAndHelm checks that other clients of Helm see a release in chunks and its status, fail before they change anything, and
// do not break it for the operator. A small record is as they write it.
func TestChunksAndHelm(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	files := chunkedChart(1)
	plain := strings.Replace(files, "stringData: {p: {{ randAlphaNum 12 }}}", "", 1)
	small := e.release(e.chart(plain), values("v", "1"))
	e.install(small)
	for _, secret := range e.secrets() {
		delete(secret.Data, fingerprintsKey) // Helm doesn't read it
		if len(secret.Data) != 1 || len(secret.Data["release"]) == 0 {
			t.Errorf("a small record has more than Helm's: %d keys", len(secret.Data))
		}
	}
	e.limitRecords()
	chart := e.chart(files)
	e.upgrade(e.release(chart, values("v", "1")))
	configuration := e.helm()
	last, err := configuration.Releases.Last("web")
	if err != nil {
		t.Fatal(err)
	}
	seen := last.(*revision)
	if seen.Version != 2 || seen.Info.Status != rcommon.StatusDeployed || seen.Chart.Name() != "demo" || !isIncomplete(seen) {
		t.Errorf("Helm sees %+v", seen)
	}
	before := e.must("v1 ConfigMap c").GetResourceVersion()
	upgrade := action.NewUpgrade(configuration)
	upgrade.Namespace, upgrade.WaitStrategy = e.namespace, kube.HookOnlyStrategy
	_, upgradeErr := upgrade.RunWithContext(t.Context(), "web", copyChart(chart), values("v", "2"))
	uninstall := action.NewUninstall(configuration)
	uninstall.WaitStrategy = kube.HookOnlyStrategy
	_, uninstallErr := uninstall.Run("web")
	rollback := action.NewRollback(configuration)
	rollback.Version, rollback.WaitStrategy = 1, kube.HookOnlyStrategy
	rollbackErr := rollback.Run("web")
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"upgrade": {upgradeErr, "ReleaseStoredInSeveralSecrets"}, "rollback": {rollbackErr, "ReleaseStoredInSeveralSecrets"}, "uninstall": {uninstallErr, "failed to delete release"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("helm %s: %v", name, test.err)
		}
	}
	if after := e.must("v1 ConfigMap c").GetResourceVersion(); after != before {
		t.Error("Helm has changed an object")
	}
	// Helm has recorded that it uninstalls the release, without the index of the chunks.
	// Its rollback has made a record without chunks.
	if records := e.records(); !strings.HasPrefix(records, "1 superseded, 2 uninstalling, 3 ") {
		t.Errorf("records %s", records)
	}
	revisions, err := e.release(chart, nil).history()
	if err != nil || !strings.Contains(revisions[1].Manifest, "name: c") || lastOf(revisions).Manifest != "" {
		t.Fatalf("revisions %v, %v", revisions, err)
	}
	e.uninstall(nil)
	e.mustNot("v1 ConfigMap c")
	if chunks := e.chunks(); len(chunks) > 0 {
		t.Errorf("left: %v", chunks)
	}
}

// TestKilledBetweenChunks ends the process at each request that writes records of an upgrade. The next process finds a release that it
// can read, and no chunks are left over in the end.
func TestKilledBetweenChunks(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.limitRecords()
	release := func(n int) *Release {
		return e.release(e.chart(chunkedChart(uint64(n))), values("v", fmt.Sprint(n)), func(o *Options) { o.MaxHistory = 3 })
	}
	e.install(release(0))
	for n := 1; ; n++ {
		if n > 60 {
			t.Fatal("the upgrade never succeeds")
		}
		e.killAtRecord(n)
		_, err := release(n).Upgrade(t.Context(), UpgradeOptions{})
		e.connect()
		e.limitRecords()
		revisions, readErr := release(n).history()
		if readErr != nil || len(revisions) == 0 {
			t.Fatalf("killed at write %d (%v): records %s, %v", n, err, e.records(), readErr)
		}
		for _, revision := range revisions {
			if isIncomplete(revision) {
				t.Errorf("killed at write %d: revision %d is incomplete", n, revision.Version)
			}
		}
		if err == nil {
			if n < 8 {
				t.Errorf("only %d writes", n)
			}
			break
		}
		next := release(n)
		if plan, err := next.Plan(t.Context()); err != nil {
			t.Fatal(err)
		} else if plan.Action == Upgrade {
			if _, err := next.Upgrade(t.Context(), UpgradeOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		e.settled(release(n))
	}
	stored := e.records()
	for _, chunk := range e.chunks() {
		version, _, _ := strings.Cut(strings.TrimPrefix(chunk, "v"), "/")
		if !strings.Contains(", "+stored, ", "+version+" ") {
			t.Errorf("chunk %s has no record: %s", chunk, stored)
		}
	}
	e.uninstall(nil)
	if chunks := e.chunks(); len(chunks) > 0 {
		t.Errorf("left: %v", chunks)
	}
}

// killAtRecord makes all requests fail from the nth that writes a record or a chunk on.
func (e *env) killAtRecord(n int) {
	writes, dead := 0, false
	e.requests.mutex.Lock()
	defer e.requests.mutex.Unlock()
	e.requests.intercept = func(request *http.Request) *http.Response {
		e.requests.mutex.Lock()
		defer e.requests.mutex.Unlock()
		path := request.URL.Path
		isRecord := strings.HasSuffix(path, "/secrets") || strings.Contains(path, "/secrets/sh.helm.release.v1.")
		if request.Method != http.MethodGet && isRecord {
			writes++
		}
		if dead = dead || writes >= n; !dead {
			return nil
		}
		body := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"killed","reason":"InternalError","code":500}`
		return &http.Response{StatusCode: http.StatusInternalServerError, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(body))}
	}
}

// TestMissingChunk deletes a chunk. The release can't be changed, and the error says what to do.
func TestMissingChunk(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.limitRecords()
	release := e.release(e.chart(chunkedChart(1)), values("v", "1"))
	e.install(release)
	list, err := e.factory.core.Secrets(e.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: chunkNumber + "=1"})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	e.remove("v1 Secret " + list.Items[0].Name)
	e.connect()
	e.limitRecords()
	again := e.release(release.options.Chart, values("v", "2"))
	for name, do := range map[string]func() error{
		"plan":      func() error { _, err := again.Plan(t.Context()); return err },
		"uninstall": func() error { _, err := again.Uninstall(t.Context(), UninstallOptions{}); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "are missing; restore them, or delete the Secret sh.helm.release.v1.web.v1") {
			t.Errorf("%s: %v", name, err)
		}
	}
	e.must("v1 ConfigMap c")
	e.remove("v1 Secret sh.helm.release.v1.web.v1")
	if removal, err := again.Uninstall(t.Context(), UninstallOptions{}); err != nil || !removal.Done {
		t.Errorf("%v, %v", removal, err)
	}
}
