package release

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A storedRecord is what is known of the record of a revision. Others can write records of the same name at any time: the custom
// resource of another kind, a user with the helm command, or the operator's next leader. A pass therefore only changes and deletes
// records that still are as it has read or written them.
type storedRecord struct {
	uid     types.UID
	content [sha256.Size]byte
	// created and written report whether this pass has created the record, and whether it has created or updated it.
	created, written bool
	// lost reports whether somebody else has changed it since.
	lost bool
	// owned reports whether the custom resource owns the record.
	owned bool
}

// recordName returns the name of the Secret of a revision.
func (r *Release) recordName(version int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", r.name, version)
}

// noteRead remembers a record that was read. What this pass has written is not confused with what others made of it since.
func (r *Release) noteRead(secret *v1.Secret) {
	known := r.records[secret.Name]
	if !known.written {
		r.note(secret, storedRecord{owned: r.owner.ownsAny(secret.OwnerReferences)})
		return
	}
	if known.uid != secret.UID || known.content != recordContent(secret) {
		known.lost = true
		r.records[secret.Name] = known
	}
}

// noteWritten remembers a record that this pass has created or updated.
func (r *Release) noteWritten(secret *v1.Secret, created bool) {
	created = created || r.records[secret.Name].created
	r.note(secret, storedRecord{created: created, written: true, owned: true})
}

func (r *Release) note(secret *v1.Secret, record storedRecord) {
	if r.records == nil {
		r.records = map[string]storedRecord{}
	}
	record.uid, record.content = secret.UID, recordContent(secret)
	r.records[secret.Name] = record
}

func recordContent(secret *v1.Secret) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%s %s", secret.Labels["status"], secret.Data["release"]))
}

// errChanged is the cause when a record is not the one that this pass has read or written.
var errChanged = errors.New("it was changed by another process; the next pass continues with what the other one left")

// checkRecord returns an error if a stored record has changed since this pass has read or written it.
func (r *Release) checkRecord(stored *v1.Secret) error {
	known, ok := r.records[stored.Name]
	if ok && (known.uid != stored.UID || known.content != recordContent(stored)) {
		return fmt.Errorf("record %s: %w", stored.Name, errChanged)
	}
	return nil
}

// hasCreated reports whether this pass has created the record of a revision, and nobody has changed it since.
func (r *Release) hasCreated(version int) bool {
	record := r.records[r.recordName(version)]
	return record.created && !record.lost
}

// ownsRevision reports whether the record of a revision, as read, belongs to the custom resource.
func (r *Release) ownsRevision(version int) bool { return r.records[r.recordName(version)].owned }

// owned returns the revisions whose records belong to the custom resource.
func (r *Release) owned(revisions []*releasev1.Release) []*releasev1.Release {
	var owned []*releasev1.Release
	for _, revision := range revisions {
		if r.ownsRevision(revision.Version) {
			owned = append(owned, revision)
		}
	}
	return owned
}

// Delete implements corev1.SecretInterface. It deletes the record that was read or written, not a later one of the same name.
func (s *ownedSecrets) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	if known, ok := s.release.records[name]; ok {
		o.Preconditions = &metav1.Preconditions{UID: &known.uid}
	}
	err := s.SecretInterface.Delete(ctx, name, o)
	if apierrors.IsConflict(err) {
		return fmt.Errorf("record %s: %w", name, errChanged)
	}
	return err
}

// foreignOperation is how long an operation of others, such as "helm upgrade", is left alone. It is longer than what Helm waits by
// default. After that, the operation must have been interrupted.
const foreignOperation = 15 * time.Minute

// errBusy is the cause when another client works on the release.
var errBusy = errors.New("another client of Helm works on it; waiting until it has finished")

// checkBusy returns an error if a revision belongs to an operation of others that may still be running.
func (r *Release) checkBusy(revision *releasev1.Release) error {
	if revision == nil || !revision.Info.Status.IsPending() || r.ownsRevision(revision.Version) ||
		time.Since(revision.Info.LastDeployed) > foreignOperation {
		return nil
	}
	return r.errorf("revision %d is %s: %w", revision.Version, revision.Info.Status, errBusy)
}
