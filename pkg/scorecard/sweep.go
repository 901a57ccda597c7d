package scorecard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// limitKey is the annotation that says how long the run of a ConfigMap may take. What is to stay has none.
const limitKey = "operon/scorecard-limit"

// overtime is how long after its limit a run may still look at its pods. Server times are whole seconds.
const overtime = explainTime + 5*time.Second

// ownedMap is what is read of a run's ConfigMap.
type ownedMap struct {
	Metadata struct {
		Name, UID         string
		Annotations       map[string]string
		CreationTimestamp time.Time
	}
}

// over tells whether the run of a ConfigMap is over at a time of the server: then it was killed, or it would
// have deleted the ConfigMap.
func (m *ownedMap) over(now time.Time) bool {
	limit, err := time.ParseDuration(m.Metadata.Annotations[limitKey])
	return err == nil && m.Metadata.CreationTimestamp.Add(limit+overtime).Before(now)
}

// sweep deletes what runs have left that were killed. That it may not is no reason to run no tests.
func (c *Cluster) sweep(ctx context.Context, now time.Time) {
	var list struct{ Items []ownedMap }
	query := url.Values{"labelSelector": {"app=" + appLabel + "," + runLabel}}.Encode()
	if c.Client.Do(ctx, http.MethodGet, c.folder("configmaps")+"?"+query, "", nil, &list) != nil {
		return
	}
	for _, m := range list.Items {
		if name := m.Metadata.Name; m.over(now) && c.remove(ctx, name) == nil {
			c.Tell(Event{Test: name, Text: "deleted, with its pods: it is of a run that was killed"})
		}
	}
}

// podsOf is the list of the pods of a run.
func (c *Cluster) podsOf(configMap string) string {
	return c.folder("pods") + "?" + url.Values{"labelSelector": {runLabel + "=" + configMap}}.Encode()
}

// remove deletes the ConfigMap of a run and its pods, as far as they are there.
func (c *Cluster) remove(ctx context.Context, name string) error {
	err := c.Client.Do(ctx, http.MethodDelete, c.podsOf(name)+"&gracePeriodSeconds="+goneWithin, "", nil, nil)
	configMap := c.Client.Do(ctx, http.MethodDelete, c.folder("configmaps")+"/"+name, "", nil, nil)
	if kube.IsNotFound(configMap) {
		configMap = nil
	}
	return errors.Join(err, configMap)
}
