package release

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	v1 "k8s.io/api/core/v1"
)

// A revision is a release as it is stored.
type revision = releasev1.Release

// chunkNotice is the manifest of a record in chunks for other clients of Helm. The errors that they report contain the kind.
const chunkNotice = `# This release is larger than a Secret. The operator stores it in several, and only the operator can change it.
apiVersion: helm.sdk.operatorframework.io/v1
kind: ReleaseStoredInSeveralSecrets
metadata:
  name: only-the-operator-can-change-this-release
`

// isIncomplete reports whether a revision is a record whose chunks are missing.
func isIncomplete(r *revision) bool { return r.Manifest == chunkNotice }

// maxContent limits what is decompressed.
const maxContent = 256 << 20

// dropTemplates removes what neither an upgrade nor a rollback requires from the chart of a revision.
func dropTemplates(r *revision) {
	if chart := r.Chart; chart != nil {
		r.Chart = &chartv2.Chart{Metadata: chart.Metadata, Lock: chart.Lock, Values: chart.Values}
	}
}

// split returns the part of a revision that other clients of Helm see, and the rest, which changes only if the revision is rendered
// again: the last runs of hooks are in neither.
func split(r *revision) (head, rest *revision) {
	info := *r.Info
	info.Notes = ""
	head = &revision{Name: r.Name, Namespace: r.Namespace, Version: r.Version, ApplyMethod: r.ApplyMethod, Info: &info, Manifest: chunkNotice}
	if r.Chart != nil {
		head.Chart = &chartv2.Chart{Metadata: r.Chart.Metadata}
	}
	copied := *r
	copied.Info, copied.Hooks = &releasev1.Info{Notes: r.Info.Notes}, nil
	for _, hook := range r.Hooks {
		h := *hook
		h.LastRun = releasev1.HookExecution{}
		copied.Hooks = append(copied.Hooks, &h)
	}
	return head, &copied
}

// hookRuns returns the last runs of hooks, in their order.
func hookRuns(r *revision) []releasev1.HookExecution {
	runs := make([]releasev1.HookExecution, len(r.Hooks))
	for i, hook := range r.Hooks {
		runs[i] = hook.LastRun
	}
	return runs
}

// merge makes the Secret of a record in chunks one of Helm, with the content of the chunks.
func (s *chunkedSecrets) merge(secret *v1.Secret, rest *revision) error {
	head, err := decodeRecord(secret.Data[recordKey])
	if err != nil {
		return err
	}
	merged := *rest
	if head.Info != nil {
		info := *head.Info
		if rest.Info != nil {
			info.Notes = rest.Info.Notes
		}
		merged.Info = &info
	}
	var runs []releasev1.HookExecution
	if data, ok := secret.Data[hooksKey]; ok && json.Unmarshal(data, &runs) == nil && len(runs) == len(rest.Hooks) {
		merged.Hooks = nil
		for i, hook := range rest.Hooks {
			h := *hook
			h.LastRun = runs[i]
			merged.Hooks = append(merged.Hooks, &h)
		}
	}
	if secret.Data[recordKey], err = encodeRecord(&merged); err != nil {
		return err
	}
	delete(secret.Data, indexKey)
	delete(secret.Data, hooksKey)
	return nil
}

// encodeRecord encodes a revision as Helm does.
func encodeRecord(r *revision) ([]byte, error) {
	data, err := compress(r)
	if err != nil {
		return nil, err
	}
	return []byte(base64.StdEncoding.EncodeToString(data)), nil
}

// decodeRecord decodes a revision that Helm has encoded. Numbers of values keep their form.
func decodeRecord(data []byte) (*revision, error) {
	decoded, err := base64.StdEncoding.DecodeString(string(data))
	if err != nil {
		return nil, err
	}
	return decompress(decoded)
}

func compress(r *revision) ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close())
	return compressed.Bytes(), err
}

func decompress(data []byte) (*revision, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(io.LimitReader(r, maxContent))
	decoder.UseNumber()
	decoded := &revision{}
	err = decoder.Decode(decoded)
	return decoded, err
}

// digestOf returns the hash in the names of chunks.
func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}
