package scorecard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// limitKey is the annotation of a ConfigMap with the maximum duration of its run. ConfigMaps that are kept have none.
const limitKey = "operon/scorecard-limit"

// overtime is the time after its limit in which a run may read its pods. Times of servers are whole seconds.
const overtime = diagnosisTime + 5*time.Second

// ownedMap is the relevant content of a run's ConfigMap.
type ownedMap struct {
	Metadata struct {
		Name, UID         string
		Annotations       map[string]string
		CreationTimestamp time.Time
	}
}

// expired reports whether the run of a ConfigMap must have ended by a time of the server. It was killed, or it would have deleted
// the ConfigMap.
func (m *ownedMap) expired(now time.Time) bool {
	limit, err := time.ParseDuration(m.Metadata.Annotations[limitKey])
	return err == nil && m.Metadata.CreationTimestamp.Add(limit+overtime).Before(now)
}

// sweep deletes the objects of killed runs. It ignores errors, as they do not affect the tests.
func (c *Cluster) sweep(ctx context.Context, now time.Time) {
	var list struct{ Items []ownedMap }
	query := url.Values{"labelSelector": {"app=" + appLabel + "," + runLabel}}.Encode()
	if c.Client.Do(ctx, http.MethodGet, c.path("configmaps")+"?"+query, "", nil, &list) != nil {
		return
	}
	for _, m := range list.Items {
		if name := m.Metadata.Name; m.expired(now) && c.remove(ctx, name) == nil {
			c.Progress(Event{Test: name, Text: "deleted with its pods, which a killed run created"})
		}
	}
}

// podsOf returns the path of the pods of a run.
func (c *Cluster) podsOf(configMap string) string {
	return c.path("pods") + "?" + url.Values{"labelSelector": {runLabel + "=" + configMap}}.Encode()
}

// remove deletes the ConfigMap and the pods of a run, if they exist.
func (c *Cluster) remove(ctx context.Context, name string) error {
	err := c.Client.Do(ctx, http.MethodDelete, c.podsOf(name)+"&gracePeriodSeconds="+graceSeconds, "", nil, nil)
	configMap := c.Client.Do(ctx, http.MethodDelete, c.path("configmaps")+"/"+name, "", nil, nil)
	if kube.IsNotFound(configMap) {
		configMap = nil
	}
	return errors.Join(err, configMap)
}
