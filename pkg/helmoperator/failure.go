package helmoperator

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// statusFailedRelease is the key of the status that describes the last failed operation. It keeps the operation from being repeated, also by
// another process.
const statusFailedRelease = "failedRelease"

// An attempt is what an operation is about to deploy. An attempt that is equal to a failed one would fail again.
type attempt struct {
	action     release.Action
	generation int64
	// chart, values and annotations are digests.
	chart, values, annotations [sha256.Size]byte
}

// A failure is an attempt that failed.
type failure struct {
	attempt
	// failures is how often it has failed, and message the last error, without secrets.
	failures int
	message  string
	// retry is set while AnnotationReconcileRequestedAt allows one more try, also in another process if this one is interrupted.
	retry bool
}

func (p *pass) newAttempt(action release.Action, chart *chartv2.Chart) (attempt, error) {
	values, err := json.Marshal(p.values)
	if err != nil {
		return attempt{}, fmt.Errorf("values: %w", err)
	}
	content, err := p.digests.of(chart)
	if err != nil {
		return attempt{}, err
	}
	settings := fmt.Sprintf("%stimeout %s", ownAnnotations(p.obj), p.settings.timeout)
	if p.ownership == release.OwnershipEnabled { // it may be what fails
		settings += " takeOwnership"
	}
	return attempt{
		action: action, generation: p.obj.GetGeneration(), values: sha256.Sum256(values), chart: content,
		annotations: sha256.Sum256([]byte(settings)),
	}, nil
}

// ownAnnotations returns the annotations that operations depend on. A change of one of them starts a failed operation again.
func ownAnnotations(obj metav1.Object) string {
	var b strings.Builder
	annotations := obj.GetAnnotations()
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if strings.HasPrefix(key, annotationPrefix) && !slices.Contains(otherAnnotations, key) {
			fmt.Fprintf(&b, "%q: %q\n", key, annotations[key])
		}
	}
	return b.String()
}

// otherAnnotations are the annotations that operations don't depend on.
var otherAnnotations = []string{
	AnnotationReconcilePeriod, AnnotationUninstallWait, AnnotationPaused, AnnotationReconcileRequestedAt, AnnotationOperator,
}

// A chartDigest is the digest of the chart that was asked for last. All resources of a kind have the same chart, until its files change.
type chartDigest struct {
	mu    sync.Mutex
	chart *chartv2.Chart
	sum   [sha256.Size]byte
}

// of returns the digest of a chart, which must not change.
func (d *chartDigest) of(chart *chartv2.Chart) ([sha256.Size]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if chart == nil || d.chart != chart {
		content, err := chartContent(chart)
		if err != nil {
			return d.sum, fmt.Errorf("chart: %w", err)
		}
		d.chart, d.sum = chart, sha256.Sum256(content)
	}
	return d.sum, nil
}

// chartContent returns all that releases of a chart depend on.
func chartContent(chart *chartv2.Chart) ([]byte, error) {
	if chart == nil {
		return nil, nil
	}
	type file struct {
		Name string
		Data []byte
	}
	var files []file
	for _, f := range slices.Concat(chart.Templates, chart.Files) {
		files = append(files, file{f.Name, f.Data})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	var dependencies []string
	for _, dependency := range chart.Dependencies() {
		content, err := chartContent(dependency)
		if err != nil {
			return nil, err
		}
		dependencies = append(dependencies, digest(sha256.Sum256(content)))
	}
	slices.Sort(dependencies)
	return json.Marshal([]any{chart.Metadata, chart.Values, chart.Schema, files, dependencies})
}

func digest(sum [sha256.Size]byte) string { return "sha256:" + hex.EncodeToString(sum[:]) }

// valuesDigest returns the digest of values for the status. More people can read the status than the sources of values, such as Secrets,
// so that it must not confirm a guess: the key is only in a Secret.
func valuesDigest(key []byte, values [sha256.Size]byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(values[:])
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil))
}

// status returns the content of status.failedRelease.
func (f *failure) status(key []byte) map[string]any {
	status := map[string]any{
		"action": string(f.action), "generation": f.generation, "failures": int64(f.failures),
		"chartDigest": digest(f.chart), "annotationsDigest": digest(f.annotations), "valuesDigest": valuesDigest(key, f.values),
		"message": customresource.Truncate(f.message, maxMessage),
	}
	if f.retry {
		status["retryRequested"] = true
	}
	return status
}

// knownFailure returns the failures of an attempt, or nil. Those before the start of the process are in the status.
func (p *pass) knownFailure(ctx context.Context, rel *release.Release, current attempt) (*failure, error) {
	if known := p.tracked.failure; known != nil {
		if known.attempt == current {
			return known, nil
		}
		return nil, nil
	}
	stored, found, _ := unstructured.NestedMap(p.obj.Object, "status", statusFailedRelease)
	if !found || stored["action"] != string(current.action) || stored["generation"] != current.generation ||
		stored["chartDigest"] != digest(current.chart) || stored["annotationsDigest"] != digest(current.annotations) {
		return nil, nil
	}
	key, err := rel.FailureKey(ctx, false)
	if err != nil {
		return nil, err
	}
	failures, _ := stored["failures"].(int64)
	message, _ := stored["message"].(string)
	retry, _ := stored["retryRequested"].(bool)
	if len(key) == 0 || stored["valuesDigest"] != valuesDigest(key, current.values) || failures < 1 {
		return nil, nil
	}
	p.tracked.failure = &failure{attempt: current, failures: int(failures), message: message, retry: retry}
	return p.tracked.failure, nil
}

// recordFailure records a failed attempt in memory and in the status, which the caller writes.
func (p *pass) recordFailure(ctx context.Context, rel *release.Release, current attempt, known *failure, cause error) (*failure, error) {
	failed := &failure{attempt: current, failures: 1, message: p.secrets.Redact(cause.Error())}
	if known != nil {
		failed.failures += known.failures
	}
	p.tracked.failure = failed
	key, err := rel.FailureKey(ctx, true)
	if err != nil {
		return failed, err
	}
	p.change.failure = failed.status(key)
	return failed, nil
}

// retryOnce allows one more try of a failed attempt, which the caller writes to the status.
func (p *pass) retryOnce(ctx context.Context, rel *release.Release, known *failure) error {
	key, err := rel.FailureKey(ctx, true)
	if err == nil {
		known.retry = true
		p.change.failure = known.status(key)
	}
	return err
}

// forgetFailure removes what is known about failures, after a success.
func (p *pass) forgetFailure(ctx context.Context, rel *release.Release) error {
	_, stored, _ := unstructured.NestedMap(p.obj.Object, "status", statusFailedRelease)
	if !stored && p.tracked.failure == nil {
		return nil
	}
	p.tracked.failure = nil
	p.change.failure = map[string]any{}
	return rel.RemoveFailureKey(ctx)
}
