package release

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// chunkedSecrets are the Secrets of a release, in which a record can be larger than a Secret. Callers see records as Helm encodes them.
//
// # Format
//
// A record that fits into one Secret is stored as Helm does. One that does not is stored without the templates and files of the chart,
// which neither an upgrade nor a rollback needs. If it does not fit even so, it is stored in chunks:
//
//   - The Secret that Helm reads (sh.helm.release.v1.NAME.vREVISION, type helm.sh/release.v1, with Helm's labels) contains a release
//     without its content: name, revision, status, times and the metadata of the chart. So "helm list", "helm status" and "helm history"
//     work. Its manifest has one object of a kind that does not exist, so that "helm upgrade", "helm rollback" and "helm uninstall" fail
//     before they change an object. The errors of the first two name this kind. The key "chunks" is an index in JSON: the number of
//     chunks, and the first 8 bytes of the SHA-256 hash of their content, in hexadecimal digits. The key "hooks" contains the last run of
//     each hook.
//   - The chunks are Secrets of the type helm.sdk.operatorframework.io/chunk.v1, named like the record with the suffix .HASH.NUMBER, and
//     with the labels helm.sdk.operatorframework.io/record (the name of the release), revision, digest, chunk (from 0) and chunks (their
//     number). Together, the values of their key "chunk" are the rest of the release as compressed JSON (gzip).
//
// What changes often, the status, is in the first Secret only. The custom resource owns all of them.
//
// # Interruptions
//
// Chunks are written before the record that refers to them, and deleted after it. A pass that is interrupted in between leaves chunks
// without a record, which nobody reads, and which are deleted when the next record is stored in chunks, or with the custom resource. If
// another client of Helm writes the record, the index is lost; the chunks are found by their labels then.
type chunkedSecrets struct {
	corev1.SecretInterface
	release *Release
	// chunked are the names of records in chunks that were read or written.
	chunked map[string]bool
}

func (r *Release) chunkedSecrets() *chunkedSecrets {
	return &chunkedSecrets{r.factory.core.Secrets(r.namespace), r, map[string]bool{}}
}

// The keys of the Secret of a record in chunks.
const (
	recordKey = "release"
	indexKey  = "chunks"
	hooksKey  = "hooks"
)

// maxChunks limits the size of a release: 12 MiB, compressed.
const maxChunks = 16

// chunkSize is the size of all chunks but the last. Some clusters have lower limits than Kubernetes.
const chunkSize = 768 << 10

// limit returns the number of bytes that a Secret can contain, and the size of chunks.
func (s *chunkedSecrets) limit() (record, chunk int) {
	if limit := s.release.factory.recordLimit; limit > 0 {
		return limit, limit
	}
	return v1.MaxSecretSize, chunkSize
}

// Create implements corev1.SecretInterface.
func (s *chunkedSecrets) Create(ctx context.Context, secret *v1.Secret, o metav1.CreateOptions) (*v1.Secret, error) {
	return s.store(ctx, secret, func(secret *v1.Secret) (*v1.Secret, error) { return s.SecretInterface.Create(ctx, secret, o) })
}

// Update implements corev1.SecretInterface.
func (s *chunkedSecrets) Update(ctx context.Context, secret *v1.Secret, o metav1.UpdateOptions) (*v1.Secret, error) {
	return s.store(ctx, secret, func(secret *v1.Secret) (*v1.Secret, error) { return s.SecretInterface.Update(ctx, secret, o) })
}

// Get implements corev1.SecretInterface.
func (s *chunkedSecrets) Get(ctx context.Context, name string, o metav1.GetOptions) (*v1.Secret, error) {
	secret, err := s.SecretInterface.Get(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return secret, s.complete(ctx, secret)
}

// List implements corev1.SecretInterface.
func (s *chunkedSecrets) List(ctx context.Context, o metav1.ListOptions) (*v1.SecretList, error) {
	list, err := s.SecretInterface.List(ctx, o)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if err := s.complete(ctx, &list.Items[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Delete implements corev1.SecretInterface. Records are read before they are deleted.
func (s *chunkedSecrets) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	if err := s.SecretInterface.Delete(ctx, name, o); err != nil || !s.chunked[name] {
		return err
	}
	chunks, err := s.listChunks(ctx)
	if err != nil {
		return err
	}
	return s.deleteChunks(ctx, chunks, func(chunk *metav1.PartialObjectMetadata) bool {
		return strings.HasPrefix(chunk.Name, name+".")
	})
}

// store writes a record: as it is if it fits, or without the templates of the chart, or in chunks.
func (s *chunkedSecrets) store(ctx context.Context, secret *v1.Secret, write func(*v1.Secret) (*v1.Secret, error)) (*v1.Secret, error) {
	written, err := s.storeWhole(secret, write)
	if !isTooLarge(err) {
		return written, err
	}
	revision, err := decodeRecord(secret.Data[recordKey])
	if err != nil {
		return nil, err
	}
	dropTemplates(revision)
	secret = secret.DeepCopy()
	if secret.Data[recordKey], err = encodeRecord(revision); err != nil {
		return nil, err
	}
	if written, err = s.storeWhole(secret, write); !isTooLarge(err) {
		return written, err
	}
	return s.storeChunks(ctx, secret, revision, write)
}

// errTooLarge is the answer of the API server to a Secret that is larger than it may be.
var errTooLarge = apierrors.NewRequestEntityTooLargeError("a Secret has at most 1 MiB")

// storeWhole writes a record to one Secret.
func (s *chunkedSecrets) storeWhole(secret *v1.Secret, write func(*v1.Secret) (*v1.Secret, error)) (*v1.Secret, error) {
	size := 0
	for _, value := range secret.Data {
		size += len(value)
	}
	if limit, _ := s.limit(); size > limit {
		return nil, errTooLarge
	}
	return write(secret)
}

// isTooLarge reports whether an object exceeds the limits of Secrets, of requests or of etcd.
func isTooLarge(err error) bool {
	return err != nil && (apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsInvalid(err) && strings.Contains(err.Error(), "Too long") ||
		strings.Contains(err.Error(), "request is too large"))
}

// A chunkIndex is the content of the key "chunks".
type chunkIndex struct {
	Digest string `json:"digest"`
	Count  int    `json:"count"`
}

// storeChunks writes a record in chunks.
func (s *chunkedSecrets) storeChunks(ctx context.Context, secret *v1.Secret, revision *revision, write func(*v1.Secret) (*v1.Secret, error)) (*v1.Secret, error) {
	head, rest := split(revision)
	content, err := compress(rest)
	if err != nil {
		return nil, err
	}
	_, size := s.limit()
	index := chunkIndex{digestOf(content), (len(content) + size - 1) / size}
	if index.Count > maxChunks {
		return nil, fmt.Errorf("the release has %d MiB, compressed, and can have at most %d; reduce its objects", len(content)>>20, maxChunks*chunkSize>>20)
	}
	before, err := s.listChunks(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.writeChunks(ctx, secret, index, content, size, before); err != nil {
		return nil, err
	}
	secret = secret.DeepCopy()
	if secret.Data[recordKey], err = encodeRecord(head); err != nil {
		return nil, err
	}
	if secret.Data[hooksKey], err = json.Marshal(hookRuns(revision)); err != nil {
		return nil, err
	}
	if secret.Data[indexKey], err = json.Marshal(index); err != nil {
		return nil, err
	}
	written, err := write(secret)
	if err != nil {
		return nil, err
	}
	s.chunked[secret.Name] = true
	if err := s.sweep(ctx, secret.Name, index, before); err != nil {
		return nil, err
	}
	return written, s.merge(written, rest)
}
