package runner

import (
	"encoding/json"
	"maps"
	"reflect"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// A setStats is what tasks of the module set_stats have set, for the run as a whole.
type setStats struct {
	// values are the final values by name, as Ansible reports them after the playbook.
	values map[string]any
	// shown are the last values that tasks without no_log have set, and hidden reports whether one had no_log.
	shown  map[string]any
	hidden bool
}

// isSetStats reports whether a task runs the module set_stats.
func isSetStats(d eventData) bool {
	for _, name := range []string{d.TaskAction, d.ResolvedAction} {
		if name == "set_stats" || name == "ansible.builtin.set_stats" || name == "ansible.legacy.set_stats" {
			return true
		}
	}
	return false
}

// add adds the result of a task. What no_log hides can't be told from its result, so that it is known by what others have not set.
func (s *setStats) add(d eventData) {
	if !isSetStats(d) {
		return
	}
	type result struct {
		Censored string `json:"censored"`
		Stats    struct {
			Data json.RawMessage `json:"data"`
		} `json:"ansible_stats"`
		Results []json.RawMessage `json:"results"`
	}
	var of func(data json.RawMessage)
	of = func(data json.RawMessage) {
		var r result
		if json.Unmarshal(data, &r) != nil || r.Censored != "" {
			s.hidden = true
			return
		}
		if s.shown == nil {
			s.shown = map[string]any{}
		}
		maps.Copy(s.shown, decodeStats(r.Stats.Data))
		for _, item := range r.Results {
			of(item)
		}
	}
	of(d.Res)
}

// decodeStats returns values in the form of JSON that Kubernetes uses.
func decodeStats(data json.RawMessage) (values map[string]any) {
	if len(data) > 0 {
		_ = utiljson.Unmarshal(data, &values)
	}
	return values
}

// split returns the values that may be shown, and the names of those that no_log hides. If a task had no_log, a value may be shown only
// if another task has set exactly this one.
func (s *setStats) split() (values map[string]any, hidden map[string]bool) {
	values, hidden = map[string]any{}, map[string]bool{}
	for name, value := range s.values {
		if shown, ok := s.shown[name]; s.hidden && (!ok || !reflect.DeepEqual(shown, value)) {
			hidden[name] = true
		} else {
			values[name] = value
		}
	}
	return values, hidden
}
