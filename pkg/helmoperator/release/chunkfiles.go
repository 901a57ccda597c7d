package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// The type and the labels of chunks. They lack the label by which Helm finds records.
const (
	chunkType      = "helm.sdk.operatorframework.io/chunk.v1"
	chunkOfRelease = "helm.sdk.operatorframework.io/record"
	chunkRevision  = "helm.sdk.operatorframework.io/revision"
	chunkDigest    = "helm.sdk.operatorframework.io/digest"
	chunkNumber    = "helm.sdk.operatorframework.io/chunk"
	chunkCount     = "helm.sdk.operatorframework.io/chunks"
	chunkKey       = "chunk"
)

// writeChunks creates the chunks of a record that do not exist.
func (s *chunkedSecrets) writeChunks(ctx context.Context, record *v1.Secret, index chunkIndex, content []byte, size int, existing []metav1.PartialObjectMetadata) error {
	for i := range index.Count {
		chunk := &v1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("%s.%s.%d", record.Name, index.Digest, i), OwnerReferences: record.OwnerReferences,
				Labels: map[string]string{
					chunkOfRelease: s.release.name, chunkRevision: record.Labels["version"], chunkDigest: index.Digest,
					chunkNumber: strconv.Itoa(i), chunkCount: strconv.Itoa(index.Count),
				},
			},
			Type: chunkType,
			Data: map[string][]byte{chunkKey: content[i*size : min((i+1)*size, len(content))]},
		}
		found := slices.IndexFunc(existing, func(m metav1.PartialObjectMetadata) bool { return m.Name == chunk.Name })
		if found >= 0 && s.isOwn(&existing[found]) && existing[found].DeletionTimestamp == nil {
			continue // its name says what it contains
		}
		var err error
		if found >= 0 { // of a deleted custom resource
			_, err = s.SecretInterface.Update(ctx, chunk, metav1.UpdateOptions{})
		} else {
			_, err = s.SecretInterface.Create(ctx, chunk, metav1.CreateOptions{})
		}
		if err != nil {
			return fmt.Errorf("chunk %d of %d: %w", i+1, index.Count, err)
		}
	}
	return nil
}

// isOwn reports whether the custom resource owns a chunk.
func (s *chunkedSecrets) isOwn(chunk *metav1.PartialObjectMetadata) bool {
	return slices.ContainsFunc(chunk.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == s.release.owner.uid })
}

// complete replaces the content of a Secret that is a record in chunks by the whole record. If chunks are missing, it stays
// incomplete.
func (s *chunkedSecrets) complete(ctx context.Context, secret *v1.Secret) error {
	index, ok := chunkIndex{}, false
	if data, indexed := secret.Data[indexKey]; indexed {
		ok = json.Unmarshal(data, &index) == nil
	} else if len(secret.Data[recordKey]) < 8<<10 { // another client may have written the record
		head, err := decodeRecord(secret.Data[recordKey])
		ok = err == nil && isIncomplete(head)
	}
	if !ok || secret.Labels["owner"] != "helm" {
		return nil
	}
	s.chunked[secret.Name] = true
	content, err := s.readChunks(ctx, secret, index)
	if err != nil || content == nil {
		return err
	}
	rest, err := decompress(content)
	if err != nil {
		return nil // incomplete
	}
	return s.merge(secret, rest)
}

// readChunks returns the content of the chunks of a record, or nil if there are not all of them. Without a digest, any complete chunks of
// the revision belong to the record.
func (s *chunkedSecrets) readChunks(ctx context.Context, record *v1.Secret, index chunkIndex) ([]byte, error) {
	selector := labels.Set{chunkOfRelease: record.Labels["name"], chunkRevision: record.Labels["version"]}
	if index.Digest != "" {
		selector[chunkDigest] = index.Digest
	}
	list, err := s.SecretInterface.List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return nil, err
	}
	byDigest := map[string][]v1.Secret{}
	for _, chunk := range list.Items {
		if chunk.Type == chunkType {
			byDigest[chunk.Labels[chunkDigest]] = append(byDigest[chunk.Labels[chunkDigest]], chunk)
		}
	}
	number := func(chunk v1.Secret, label string) int { n, _ := strconv.Atoi(chunk.Labels[label]); return n }
	for _, digest := range slices.Sorted(maps.Keys(byDigest)) {
		chunks := byDigest[digest]
		slices.SortFunc(chunks, func(a, b v1.Secret) int { return number(a, chunkNumber) - number(b, chunkNumber) })
		var content bytes.Buffer
		for _, chunk := range chunks {
			content.Write(chunk.Data[chunkKey])
		}
		if digestOf(content.Bytes()) == digest {
			return content.Bytes(), nil
		}
	}
	return nil, nil
}

// listChunks returns the metadata of all chunks of the release.
func (s *chunkedSecrets) listChunks(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	return s.listMetadata(ctx, labels.Set{chunkOfRelease: s.release.name})
}

func (s *chunkedSecrets) listMetadata(ctx context.Context, selector labels.Set) ([]metav1.PartialObjectMetadata, error) {
	var list metav1.PartialObjectMetadataList
	data, err := s.release.factory.core.RESTClient().Get().Namespace(s.release.namespace).Resource("secrets").
		Param("labelSelector", selector.String()).SetHeader("Accept", recordList).DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(data, &list)
	return list.Items, err
}

// sweep deletes chunks that no record refers to: former chunks of a record, and chunks of interrupted passes.
func (s *chunkedSecrets) sweep(ctx context.Context, record string, index chunkIndex, chunks []metav1.PartialObjectMetadata) error {
	current := fmt.Sprintf("%s.%s.", record, index.Digest)
	isOld := func(chunk *metav1.PartialObjectMetadata) bool { return !strings.HasPrefix(chunk.Name, current) }
	if !slices.ContainsFunc(chunks, func(chunk metav1.PartialObjectMetadata) bool { return isOld(&chunk) }) {
		return nil
	}
	records, err := s.listMetadata(ctx, labels.Set{"owner": "helm", "name": s.release.name})
	if err != nil {
		return err
	}
	return s.deleteChunks(ctx, chunks, func(chunk *metav1.PartialObjectMetadata) bool {
		of, _, _ := strings.Cut(chunk.Name, "."+chunk.Labels[chunkDigest]+".")
		isStored := slices.ContainsFunc(records, func(m metav1.PartialObjectMetadata) bool { return m.Name == of })
		return isOld(chunk) && (of == record || !isStored)
	})
}

// deleteChunks deletes the selected ones of the custom resource's chunks.
func (s *chunkedSecrets) deleteChunks(ctx context.Context, chunks []metav1.PartialObjectMetadata, isSelected func(*metav1.PartialObjectMetadata) bool) error {
	var errs []error
	for i := range chunks {
		chunk := &chunks[i]
		if !s.isOwn(chunk) || !isSelected(chunk) {
			continue
		}
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &chunk.UID}}
		if err := s.SecretInterface.Delete(ctx, chunk.Name, options); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("chunk %s: %w", chunk.Name, err))
		}
	}
	return errors.Join(errs...)
}

// checkComplete returns an error if chunks of the last or of the deployed revision are missing: without them, nobody knows what is
// deployed. A revision that another client of Helm has made of a record in chunks, and that failed before it changed anything, has no
// chunks and no objects.
func (r *Release) checkComplete(revisions []*revision) error {
	for _, revision := range revisions {
		if !isIncomplete(revision) {
			continue
		}
		if status := revision.Info.Status; status == rcommon.StatusFailed || status.IsPending() {
			revision.Manifest = ""
		} else if revision == lastOf(revisions) || revision == deployedOf(revisions) {
			return r.errorf("revision %d is stored in several Secrets, and some of those with the label %s=%s are missing; restore them, or delete the "+
				"Secret sh.helm.release.v1.%s.v%d to continue without this revision", revision.Version, chunkOfRelease, r.name, r.name, revision.Version)
		}
	}
	return nil
}
