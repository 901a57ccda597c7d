package release

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// storage returns the storage of the release: Secrets in its namespace, as in Helm 3.
func (r *Release) storage() *storage.Storage {
	secrets := driver.NewSecrets(ownedSecrets{r.factory.core.Secrets(r.namespace), r.owner})
	secrets.SetLogger(slog.DiscardHandler)
	store := storage.Init(secrets)
	store.SetLogger(slog.DiscardHandler)
	store.MaxHistory = r.options.MaxHistory
	return store
}

// ownedSecrets are Secrets that the custom resource owns, so that the garbage collector deletes them after it.
type ownedSecrets struct {
	corev1.SecretInterface
	owner owner
}

func (s ownedSecrets) Create(ctx context.Context, secret *v1.Secret, o metav1.CreateOptions) (*v1.Secret, error) {
	secret.OwnerReferences = []metav1.OwnerReference{s.owner.reference()}
	return s.SecretInterface.Create(ctx, secret, o)
}

// Update keeps the owner: without a resource version, an update replaces all metadata.
func (s ownedSecrets) Update(ctx context.Context, secret *v1.Secret, o metav1.UpdateOptions) (*v1.Secret, error) {
	secret.OwnerReferences = []metav1.OwnerReference{s.owner.reference()}
	return s.SecretInterface.Update(ctx, secret, o)
}

// history returns all stored revisions, oldest first.
func (r *Release) history() ([]*releasev1.Release, error) {
	stored, err := r.storage().History(r.name)
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
	return revisions, nil
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
