package controlplane

import (
	"context"
	"net/http"

	"github.com/operon-sdk/operon/pkg/kube"
)

// storageClass is the name of the default storage class of the simulated node. Its volumes have no storage.
const storageClass = "standard"

// provisioner is the provisioner of the storage class.
const provisioner = SimulatedLabel

const (
	volumesPath = "/api/v1/persistentvolumes"
	// provisionerAnnotation is set by kube-controller-manager on claims that wait for a provisioner.
	provisionerAnnotation = "volume.kubernetes.io/storage-provisioner"
	// provisionedBy makes kube-controller-manager leave the deletion of a volume to its provisioner.
	provisionedBy = "pv.kubernetes.io/provisioned-by"
)

// claim is the content of a PersistentVolumeClaim that provisioning uses.
type claim struct {
	Metadata struct {
		Name, Namespace, UID string
		Annotations          map[string]string
		DeletionTimestamp    *string
	}
	Spec struct {
		StorageClassName, VolumeName, VolumeMode string
		AccessModes                              []string
		Resources                                struct{ Requests map[string]any }
	}
}

// volume is the content of a PersistentVolume that its deletion uses.
type volume struct {
	Metadata struct {
		Name, UID         string
		Annotations       map[string]string
		DeletionTimestamp *string
	}
	Spec   struct{ PersistentVolumeReclaimPolicy string }
	Status struct{ Phase string }
}

// addStorage creates the storage class.
func (n *node) addStorage(ctx context.Context) error {
	err := n.client.Do(ctx, http.MethodPost, "/apis/storage.k8s.io/v1/storageclasses", "", fields{
		"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
		"metadata":    fields{"name": storageClass, "annotations": fields{"storageclass.kubernetes.io/is-default-class": "true"}},
		"provisioner": provisioner, "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate",
	}, nil)
	if kube.IsConflict(err) {
		return nil
	}
	return err
}

// provision creates a volume for a claim that waits for one. kube-controller-manager binds them. It ignores errors, as the claim's
// next event or the next list repeats it.
func (n *node) provision(ctx context.Context, c *claim) {
	if c.Metadata.Annotations[provisionerAnnotation] != provisioner || c.Spec.VolumeName != "" || c.Metadata.DeletionTimestamp != nil {
		return
	}
	name := "pvc-" + c.Metadata.UID
	_ = n.client.Do(ctx, http.MethodPost, volumesPath, "", fields{
		"apiVersion": "v1", "kind": "PersistentVolume",
		"metadata": fields{"name": name, "annotations": fields{provisionedBy: provisioner}},
		"spec": fields{
			"capacity": fields{"storage": c.Spec.Resources.Requests["storage"]}, "accessModes": c.Spec.AccessModes,
			"volumeMode": c.Spec.VolumeMode, "storageClassName": c.Spec.StorageClassName, "persistentVolumeReclaimPolicy": "Delete",
			"claimRef": fields{"apiVersion": "v1", "kind": "PersistentVolumeClaim",
				"namespace": c.Metadata.Namespace, "name": c.Metadata.Name, "uid": c.Metadata.UID},
			"hostPath": fields{"path": "/var/lib/" + NodeName + "/" + name},
		},
	}, nil)
}

// reclaim deletes a volume whose claim is deleted.
func (n *node) reclaim(ctx context.Context, v *volume) {
	if v.Metadata.Annotations[provisionedBy] != provisioner || v.Status.Phase != "Released" ||
		v.Spec.PersistentVolumeReclaimPolicy != "Delete" || v.Metadata.DeletionTimestamp != nil {
		return
	}
	_ = n.client.Do(ctx, http.MethodDelete, volumesPath+"/"+v.Metadata.Name, "", fields{
		"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": fields{"uid": v.Metadata.UID},
	}, nil)
}
