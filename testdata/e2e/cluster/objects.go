package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// Objects lists all objects of a cluster, by kind: their names and content, without what changes by itself.
func Objects(ctx context.Context, client *kube.Client) (Snapshot, error) {
	versions, err := groupVersions(ctx, client)
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
		for _, r := range list.Resources {
			if !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "delete") || passing(r.Name) {
				continue
			}
			kind := strings.TrimPrefix(version, "/apis/") + " " + r.Kind
			if s[kind], err = objectsOf(ctx, client, version+"/"+r.Name); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// passing tells of objects that come and go by themselves.
func passing(resource string) bool { return resource == "events" || resource == "leases" }

// groupVersions are the paths of all versions of all groups that the cluster prefers.
func groupVersions(ctx context.Context, client *kube.Client) ([]string, error) {
	var groups struct {
		Groups []struct{ PreferredVersion struct{ GroupVersion string } }
	}
	if err := client.Do(ctx, http.MethodGet, "/apis", "", nil, &groups); err != nil {
		return nil, fmt.Errorf("listing the cluster's groups: %w", err)
	}
	found := []string{"/api/v1"}
	for _, group := range groups.Groups {
		found = append(found, "/apis/"+group.PreferredVersion.GroupVersion)
	}
	return found, nil
}

func objectsOf(ctx context.Context, client *kube.Client, path string) ([]string, error) {
	var list struct{ Items []map[string]any }
	if err := client.Do(ctx, http.MethodGet, path, "", nil, &list); err != nil {
		return nil, fmt.Errorf("listing %s: %w", path, err)
	}
	var found []string
	for _, item := range list.Items {
		delete(item, "status")
		if metadata, ok := item["metadata"].(map[string]any); ok {
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
