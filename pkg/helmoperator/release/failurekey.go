package release

import (
	"context"
	"crypto/rand"
	"fmt"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	failureKeyType = "helm.sdk.operatorframework.io/failed-release"
	failureKeyData = "key"
)

// FailureKey returns a random key that belongs to the custom resource, for digests of values that must not be guessed. It is stored in a
// Secret, which is created if create is set; otherwise the result is empty if there is none.
func (r *Release) FailureKey(ctx context.Context, create bool) ([]byte, error) {
	secrets := r.factory.core.Secrets(r.namespace)
	stored, err := secrets.Get(ctx, r.failureKeyName(), metav1.GetOptions{})
	switch {
	case err == nil:
		return stored.Data[failureKeyData], nil
	case !apierrors.IsNotFound(err):
		return nil, r.errorf("read the key of failures: %w", err)
	case !create:
		return nil, nil
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, r.errorf("create the key of failures: %w", err)
	}
	immutable := true
	_, err = secrets.Create(ctx, &v1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: r.failureKeyName(), OwnerReferences: []metav1.OwnerReference{r.owner.reference()}},
		Immutable:  &immutable, Type: failureKeyType, Data: map[string][]byte{failureKeyData: key},
	}, metav1.CreateOptions{FieldManager: FieldManager})
	if err != nil {
		return nil, r.errorf("create the key of failures: %w", err)
	}
	return key, nil
}

// RemoveFailureKey deletes the key. A missing one is not an error.
func (r *Release) RemoveFailureKey(ctx context.Context) error {
	err := r.factory.core.Secrets(r.namespace).Delete(ctx, r.failureKeyName(), metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return r.errorf("delete the key of failures: %w", err)
	}
	return nil
}

// failureKeyName contains the UID, as custom resources of several kinds can have the same name.
func (r *Release) failureKeyName() string { return fmt.Sprintf("failed-release-%s", r.owner.uid) }

// IsDeployed reports whether the last revision is deployed, so that Repair knows what is right.
func (r *Release) IsDeployed(ctx context.Context) (bool, error) {
	s, err := r.settledState(ctx)
	return s != nil, err
}
