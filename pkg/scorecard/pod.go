package scorecard

import (
	"fmt"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
)

// The images of operator-sdk, by digest.
const (
	StorageImage = "quay.io/operator-framework/scorecard-storage@sha256:a3bfda71281393c7794cabdd39c563fb050d3020fd0b642ea164646bdd39a0e2"
	UntarImage   = "quay.io/operator-framework/scorecard-untar@sha256:2e728c5e67a7f4dec0df157a322dd5671212e8ae60f69137463bd4fdfbff8747"
)

// PodBundle is the path of the bundle in test images.
const PodBundle = "/bundle"

// The containers of a test's pod, as in operator-sdk.
const (
	testContainer    = "scorecard-test"
	untarContainer   = "scorecard-untar"
	storageContainer = "scorecard-gather"
)

const (
	appLabel     = "scorecard-test"
	runLabel     = "testrun"
	archiveName  = "bundle.tar.gz"
	storageMount = "scorecard-storage"
)

// PodOptions are settings of the pods of tests.
type PodOptions struct {
	Namespace, ServiceAccount string
	UntarImage, StorageImage  string
	// Restricted makes pods comply with the Pod Security Standard restricted.
	Restricted bool
	// Wait is the maximum time for all tests.
	Wait time.Duration
}

type fields = map[string]any

// pod returns the pod of a test. Its owner is the ConfigMap of the bundle, so that it is deleted with it.
func pod(name, configMap, uid string, test v1alpha3.TestConfiguration, o PodOptions) fields {
	container := fields{
		"name": testContainer, "image": test.Image, "imagePullPolicy": "IfNotPresent",
		"volumeMounts": []any{fields{"name": "scorecard-untar", "mountPath": PodBundle, "readOnly": true}},
	}
	if len(test.Entrypoint) > 0 {
		container["command"] = test.Entrypoint
	}
	environment := []any{fields{"name": "SCORECARD_NAMESPACE", "valueFrom": fields{"fieldRef": fields{"fieldPath": "metadata.namespace"}}}}
	unpack := fields{
		"name": untarContainer, "image": o.UntarImage, "imagePullPolicy": "IfNotPresent",
		"args": []any{"tar", "xvzf", "/scorecard/" + archiveName, "-C", "/scorecard-bundle"},
		"volumeMounts": []any{
			fields{"name": "scorecard-bundle", "mountPath": "/scorecard", "readOnly": true},
			fields{"name": "scorecard-untar", "mountPath": "/scorecard-bundle"},
		},
	}
	containers := []any{container}
	volumes := []any{
		fields{"name": "scorecard-bundle", "configMap": fields{"name": configMap}},
		fields{"name": "scorecard-untar", "emptyDir": fields{}},
	}
	if mount := test.Storage.Spec.MountPath.Path; mount != "" {
		volumes = append(volumes, fields{"name": storageMount, "emptyDir": fields{}})
		containers = append(containers, fields{
			"name": storageContainer, "image": o.StorageImage, "imagePullPolicy": "IfNotPresent",
			"args":         []any{"/bin/sh", "-c", fmt.Sprintf("sleep %d", int(max(1000*time.Second, o.Wait+time.Minute).Seconds()))},
			"volumeMounts": []any{fields{"name": storageMount, "mountPath": mount, "readOnly": true}},
		})
		container["volumeMounts"] = append(container["volumeMounts"].([]any), fields{"name": storageMount, "mountPath": mount})
		environment = append(environment, fields{"name": "SCORECARD_STORAGE", "value": mount})
	}
	container["env"] = environment
	spec := fields{
		"serviceAccountName": o.ServiceAccount, "restartPolicy": "Never",
		"containers": containers, "initContainers": []any{unpack}, "volumes": volumes,
	}
	if o.Restricted {
		spec["securityContext"] = fields{"runAsNonRoot": true, "seccompProfile": fields{"type": "RuntimeDefault"}}
		for _, c := range append([]any{unpack}, containers...) {
			c.(fields)["securityContext"] = fields{"runAsNonRoot": true, "allowPrivilegeEscalation": false, "capabilities": fields{"drop": []any{"ALL"}}}
		}
	}
	return fields{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": fields{
			"name": name, "namespace": o.Namespace, "labels": fields{"app": appLabel, runLabel: configMap},
			"ownerReferences": []any{fields{"apiVersion": "v1", "kind": "ConfigMap", "name": configMap, "uid": uid}},
		},
		"spec": spec,
	}
}
