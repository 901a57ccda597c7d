package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// Objects lists the objects of a cluster that a scope selects, by kind: their names and content, without what changes by itself.
func Objects(ctx context.Context, client *kube.Client, scope Scope) (Snapshot, error) {
	versions, err := groupVersions(ctx, client, scope)
	if err != nil {
		return nil, err
	}
	s := Snapshot{}
	for _, version := range versions {
		var list struct {
			Resources []struct {
				Name, Kind string
				Verbs      []string
			}
		}
		if err := client.Do(ctx, http.MethodGet, version, "", nil, &list); err != nil {
			return nil, fmt.Errorf("listing the resources of %s: %w", version, err)
		}
		var group string
		if name, ok := strings.CutPrefix(version, "/apis/"); ok {
			group, _, _ = strings.Cut(name, "/")
		}
		for _, r := range list.Resources {
			if !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "delete") || passing(r.Name) {
				continue
			}
			kind := strings.TrimPrefix(version, "/apis/") + " " + r.Kind
			found, err := objectsOf(ctx, client, version+"/"+r.Name, func(namespace, name string) bool {
				return scope.Contains(group, r.Kind, namespace, name)
			})
			if err != nil {
				return nil, err
			}
			if len(found) > 0 {
				s[kind] = found
			}
		}
	}
	return s, nil
}

// Settled returns an error about an object that is being deleted, or an endpoint whose pod is.
func (s Snapshot) Settled() error {
	for _, kind := range slices.Sorted(maps.Keys(s)) {
		for _, object := range s[kind] {
			if strings.Contains(object, `"deletionTimestamp":`) || strings.Contains(object, `"terminating":true`) {
				return fmt.Errorf("%s: is being deleted: %s", kind, object)
			}
		}
	}
	return nil
}

// passing tells of objects that come and go by themselves.
func passing(resource string) bool { return resource == "events" || resource == "leases" }

// groupVersions are the paths of the preferred versions of the groups that a scope reads.
func groupVersions(ctx context.Context, client *kube.Client, scope Scope) ([]string, error) {
	var groups struct {
		Groups []struct {
			Name             string
			PreferredVersion struct{ GroupVersion string }
		}
	}
	if err := client.Do(ctx, http.MethodGet, "/apis", "", nil, &groups); err != nil {
		return nil, fmt.Errorf("listing the cluster's groups: %w", err)
	}
	found := []string{"/api/v1"}
	for _, group := range groups.Groups {
		if scope.reads(group.Name) {
			found = append(found, "/apis/"+group.PreferredVersion.GroupVersion)
		}
	}
	return found, nil
}

// objectsOf lists the objects at a path that belong to a scope.
func objectsOf(ctx context.Context, client *kube.Client, path string, belongs func(namespace, name string) bool) ([]string, error) {
	var list struct{ Items []map[string]any }
	if err := client.Do(ctx, http.MethodGet, path, "", nil, &list); err != nil {
		return nil, fmt.Errorf("listing %s: %w", path, err)
	}
	var found []string
	for _, item := range list.Items {
		metadata, _ := item["metadata"].(map[string]any)
		namespace, _ := metadata["namespace"].(string)
		name, _ := metadata["name"].(string)
		if !belongs(namespace, name) {
			continue
		}
		delete(item, "status")
		if metadata != nil {
			for _, field := range []string{"resourceVersion", "generation", "managedFields"} {
				delete(metadata, field)
			}
		}
		line, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		found = append(found, string(line))
	}
	slices.Sort(found)
	return found, nil
}
