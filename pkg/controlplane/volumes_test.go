package controlplane

import (
	"strings"
	"testing"
)

// TestVolumes runs a StatefulSet with claims of the default storage class, one of which is of blocks, and deletes it with its claims.
func TestVolumes(t *testing.T) {
	t.Parallel()
	cp := startWorkloads(t)
	do := func(method, path, body string) {
		t.Helper()
		if code, answer := request(t, cp, cp.Token, method, path, body); code >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, code, answer)
		}
	}
	const (
		sets   = "/apis/apps/v1/namespaces/default/statefulsets"
		claims = "/api/v1/namespaces/default/persistentvolumeclaims"
	)
	claim := func(name, spec string) string {
		return `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"` + name + `"},"spec":{` + spec +
			`"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`
	}
	do("POST", sets, `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{"serviceName":"db","replicas":2,
		"selector":{"matchLabels":{"app":"db"}},"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"},
		"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"c","image":"example.com/c:1",
			"volumeMounts":[{"name":"data","mountPath":"/data"}],"volumeDevices":[{"name":"raw","devicePath":"/dev/raw"}]}]}},
		"volumeClaimTemplates":[`+claim("data", "")+","+claim("raw", `"volumeMode":"Block",`)+`]}}`)
	eventually(t, cp, sets+"/db", func(o answer) bool { return o.Status.AvailableReplicas == 2 })
	eventually(t, cp, volumesPath, func(o answer) bool {
		for _, volume := range o.Items {
			if volume.Status.Phase != "Bound" || !strings.HasPrefix(volume.Metadata.Name, "pvc-") {
				return false
			}
		}
		return len(o.Items) == 4
	})
	// A claim of a class that does not exist remains pending, as in a cluster.
	do("POST", claims, claim("other", `"storageClassName":"other",`))

	do("DELETE", sets+"/db", `{"propagationPolicy":"Foreground"}`)
	eventually(t, cp, claims, func(o answer) bool { return len(o.Items) == 1 && o.Items[0].Status.Phase == "Pending" })
	eventually(t, cp, volumesPath, func(o answer) bool { return o.Kind == "PersistentVolumeList" && len(o.Items) == 0 })
}
