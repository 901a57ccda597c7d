package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// helmFlavor is the runtime of Helm operators.
func helmFlavor() *flavor {
	return &flavor{
		name: "helm", operator: "helm-operator", kind: "HelmApp", plural: "helmapps",
		objectKinds: [][2]string{
			{"v1", "ConfigMap"}, {"v1", "Secret"}, {"v1", "ServiceAccount"}, {"v1", "Service"}, {"apps/v1", "Deployment"}, {"batch/v1", "Job"},
		},
		check: checkRelease,
	}
}

// A record is a stored revision of a release.
type record struct {
	Name     string         `json:"name"`
	Version  int            `json:"version"`
	Config   map[string]any `json:"config"`
	Manifest string         `json:"manifest"`
	Info     struct {
		Status      string `json:"status"`
		Description string `json:"description"`
	} `json:"info"`
}

const recordType = "helm.sh/release.v1"

func isRecord(obj *unstructured.Unstructured) bool { return obj.Object["type"] == recordType }

// decodeRecord decodes the Secret of a revision.
func decodeRecord(obj *unstructured.Unstructured) (record, error) {
	var r record
	text, _, err := unstructured.NestedString(obj.Object, "data", "release")
	if err != nil {
		return r, err
	}
	data := []byte(text)
	for range 2 { // as a Secret, and by Helm
		decoded, err := base64.StdEncoding.DecodeString(string(data))
		if err != nil {
			return r, err
		}
		data = decoded
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return r, err
	}
	return r, json.NewDecoder(unzipped).Decode(&r)
}

// checkRelease returns what differs from the expectation of a resource.
func checkRelease(s *snapshot, r *resource) []string {
	obj, records, objects := s.resources[r.name], s.records[r.name], s.objects[r.name]
	if r.deleted {
		return checkGone(obj, objects, len(records))
	}
	if obj == nil {
		return []string{"doesn't exist"}
	}
	status := "True"
	if r.spec.Fail {
		status = "False"
	}
	problems := checkReady(obj, status)
	failed := readCondition(obj, "ReleaseFailed")["status"] == "True"
	if failed != r.spec.Fail {
		problems = append(problems, fmt.Sprintf("ReleaseFailed is %t: conditions %s", failed, describeConditions(obj)))
	}
	return append(problems, checkRevisions(records, objects, r)...)
}

// checkGone returns what is left of a deleted resource.
func checkGone(obj *unstructured.Unstructured, objects map[string]*unstructured.Unstructured, records int) []string {
	var problems []string
	if obj != nil {
		problems = append(problems, fmt.Sprintf("still exists with the finalizers %q: conditions %s", obj.GetFinalizers(), describeConditions(obj)))
	}
	if len(objects) > 0 {
		problems = append(problems, fmt.Sprintf("leaves objects: %q", slices.Sorted(maps.Keys(objects))))
	}
	if records > 0 {
		problems = append(problems, fmt.Sprintf("leaves %d records", records))
	}
	return problems
}

// checkRevisions compares records and objects with the last good spec.
func checkRevisions(records []record, objects map[string]*unstructured.Unstructured, r *resource) []string {
	var problems []string
	addf := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	slices.SortFunc(records, func(a, b record) int { return cmp.Compare(a.Version, b.Version) })
	var deployed []record
	var states []string
	for _, record := range records {
		states = append(states, fmt.Sprintf("v%d %s", record.Version, record.Info.Status))
		switch record.Info.Status {
		case "deployed":
			deployed = append(deployed, record)
		case "superseded", "failed":
		default:
			addf("revision %d is %s", record.Version, record.Info.Status)
		}
	}
	if len(deployed) != 1 {
		addf("%d revisions are deployed: %s", len(deployed), strings.Join(states, ", "))
		return problems
	}
	current := deployed[0]
	if last := records[len(records)-1]; !r.spec.Fail && last.Version != current.Version {
		addf("the last revision isn't deployed: %s", strings.Join(states, ", "))
	}
	if !equal(current.Config, r.good.fields()) {
		addf("revision %d has the values %v, want %v", current.Version, current.Config, r.good.fields())
	}
	manifest, err := parseManifest(current.Manifest)
	if err != nil {
		addf("manifest of revision %d: %v", current.Version, err)
	}
	for key, want := range manifest {
		live := objects[key]
		switch {
		case live == nil:
			addf("%s is missing", key)
		case !contains(live.Object, want):
			addf("%s differs from the rendering: %.500v, want %.500v", key, live.Object, want)
		}
	}
	for key, live := range objects {
		// A failed hook stays until it runs again, so that users can see why it failed.
		failedHook := key == "Job "+r.name+"-post" && live.GetAnnotations()[outcomeAnnotation] == "failed"
		if manifest[key] == nil && !failedHook {
			addf("%s isn't in the manifest of revision %d", key, current.Version)
		}
	}
	if _, ok := manifest["ConfigMap "+r.name+"-"+r.good.Tag]; !ok || len(manifest) != 6 {
		addf("the manifest of revision %d has %q", current.Version, slices.Sorted(maps.Keys(manifest)))
	}
	slices.Sort(problems)
	return problems
}

// parseManifest returns objects by kind and name.
func parseManifest(text string) (map[string]map[string]any, error) {
	objects := map[string]map[string]any{}
	for document := range strings.SplitSeq(text, "\n---") {
		var obj unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(document), &obj.Object); err != nil {
			return nil, err
		}
		if obj.Object != nil {
			objects[obj.GetKind()+" "+obj.GetName()] = obj.Object
		}
	}
	return objects, nil
}
