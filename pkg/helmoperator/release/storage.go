package release

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// storage returns the storage of the release: Secrets in its namespace, as in Helm 3. New records get fingerprints.
func (r *Release) storage(fingerprints map[string]string) *storage.Storage {
	secrets := driver.NewSecrets(&ownedSecrets{r.chunkedSecrets(), r, fingerprints})
	secrets.SetLogger(slog.DiscardHandler)
	store := storage.Init(secrets)
	store.SetLogger(slog.DiscardHandler)
	store.MaxHistory = 0 // prune deletes old records
	return store
}

// fingerprintsKey is the key of the fingerprints of random fields in the Secret of a revision, which Helm does not read.
const fingerprintsKey = "fingerprints"

// ownedSecrets are the Secrets of a release. The custom resource owns them, so that the garbage collector deletes them after it.
type ownedSecrets struct {
	corev1.SecretInterface
	release      *Release
	fingerprints map[string]string
}

func (s *ownedSecrets) Create(ctx context.Context, secret *v1.Secret, o metav1.CreateOptions) (*v1.Secret, error) {
	secret.OwnerReferences = []metav1.OwnerReference{s.release.owner.reference()}
	if len(s.fingerprints) > 0 {
		data, err := json.Marshal(s.fingerprints)
		if err != nil {
			return nil, err
		}
		secret.Data[fingerprintsKey] = data
	}
	if s.release.recordsTests {
		secret.Data[testKey] = []byte(testPending)
	}
	created, err := s.SecretInterface.Create(ctx, secret, o)
	if err == nil {
		s.release.noteWritten(created, true)
	}
	return created, err
}

// Update keeps the owner, the fingerprints, the adoptions and the state of tests: Helm replaces all metadata and data.
func (s *ownedSecrets) Update(ctx context.Context, secret *v1.Secret, o metav1.UpdateOptions) (*v1.Secret, error) {
	stored, err := s.SecretInterface.Get(ctx, secret.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if err := s.release.checkRecord(stored); err != nil {
		return nil, err
	}
	for _, key := range []string{fingerprintsKey, adoptionsKey, testKey} {
		if data, ok := stored.Data[key]; ok {
			secret.Data[key] = data
		}
	}
	secret.OwnerReferences = []metav1.OwnerReference{s.release.owner.reference()}
	secret.UID, secret.ResourceVersion = stored.UID, stored.ResourceVersion
	updated, err := s.SecretInterface.Update(ctx, secret, o)
	if err == nil {
		s.release.noteWritten(updated, false)
	}
	return updated, err
}

// List reads the fingerprints, adoptions and states of tests of all revisions.
func (s *ownedSecrets) List(ctx context.Context, o metav1.ListOptions) (*v1.SecretList, error) {
	list, err := s.SecretInterface.List(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, secret := range list.Items {
		var fingerprints map[string]string
		version, err := strconv.Atoi(secret.Labels["version"])
		if err != nil {
			continue
		}
		s.release.readOwners(secret.OwnerReferences)
		s.release.noteRead(&secret)
		s.release.recordVersions[version] = secret.ResourceVersion
		if data, ok := secret.Data[fingerprintsKey]; ok && json.Unmarshal(data, &fingerprints) == nil {
			s.release.fingerprints[version] = fingerprints
		}
		s.release.tests[version] = string(secret.Data[testKey])
		var adoptions []*adoption
		if data, ok := secret.Data[adoptionsKey]; ok && json.Unmarshal(data, &adoptions) == nil {
			s.release.adoptions[version] = adoptions
		}
	}
	return list, nil
}

func (r *Release) readOwners(references []metav1.OwnerReference) {
	if other := r.owner.other(references); other != "" {
		r.otherOwner = other
	}
	for _, reference := range references {
		r.isOwner = r.isOwner || reference.UID == r.owner.uid
	}
}

// history returns all stored revisions, oldest first.
func (r *Release) history() ([]*releasev1.Release, error) {
	r.otherOwner, r.isOwner = "", false
	r.fingerprints, r.recordVersions = map[int]map[string]string{}, map[int]string{}
	r.adoptions, r.tests = map[int][]*adoption{}, map[int]string{}
	stored, err := r.storage(nil).History(r.name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, r.errorf("read its history: %w", err)
	}
	var revisions []*releasev1.Release
	for _, item := range stored {
		if revision, ok := item.(*releasev1.Release); ok && revision.Info != nil {
			revisions = append(revisions, revision)
		}
	}
	slices.SortFunc(revisions, func(a, b *releasev1.Release) int { return a.Version - b.Version })
	return revisions, r.checkComplete(revisions)
}

// deployedOf returns the last deployed revision, or nil.
func deployedOf(revisions []*releasev1.Release) *releasev1.Release {
	for _, revision := range slices.Backward(revisions) {
		if revision.Info.Status == rcommon.StatusDeployed {
			return revision
		}
	}
	return nil
}

func lastOf(revisions []*releasev1.Release) *releasev1.Release {
	if len(revisions) == 0 {
		return nil
	}
	return revisions[len(revisions)-1]
}

// extendRecord sets a key of this package in the record of a revision.
func (r *Release) extendRecord(ctx context.Context, version int, key string, value []byte) error {
	secrets := r.factory.core.Secrets(r.namespace)
	stored, err := secrets.Get(ctx, r.recordName(version), metav1.GetOptions{})
	if err != nil {
		return err
	}
	stored.Data[key] = value
	_, err = secrets.Update(ctx, stored, metav1.UpdateOptions{FieldManager: FieldManager})
	return err
}
