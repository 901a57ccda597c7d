package runner

import (
	"fmt"
	"testing"
)

// TestSetStats tells values of the module set_stats that no_log hides from others.
func TestSetStats(t *testing.T) {
	t.Parallel()
	const (
		shown  = `{"event":"runner_on_ok","event_data":{"task_action":"set_stats","res":{"ansible_stats":{"data":{"a":1,"b":"x"}}}}}`
		loop   = `{"event":"runner_on_ok","event_data":{"resolved_action":"ansible.builtin.set_stats","res":{"results":[{"ansible_stats":{"data":{"c":1}}},{"censored":"hidden"}]}}}`
		hidden = `{"event":"runner_on_ok","event_data":{"task_action":"ansible.builtin.set_stats","res":{"censored":"hidden"}}}`
		other  = `{"event":"runner_on_ok","event_data":{"task_action":"debug","res":{"censored":"hidden"}}}`
		end    = `{"event":"playbook_on_stats","event_data":{"artifact_data":{"a":1,"b":"y","c":1,"d":[1]}}}`
	)
	for _, test := range []struct {
		lines []string
		want  string
	}{
		{[]string{shown, other, end}, "map[a:1 b:y c:1 d:[1]] map[]"},
		{[]string{shown, hidden, end}, "map[a:1] map[b:true c:true d:true]"},
		{[]string{loop, shown, end}, "map[a:1 c:1] map[b:true d:true]"},
		{[]string{end, hidden}, "map[] map[a:true b:true c:true d:true]"},
		{[]string{shown}, "map[] map[]"},
	} {
		values, hidden := collect(t, test.lines...).setStats.split()
		if got := fmt.Sprint(values, hidden); got != test.want {
			t.Errorf("%v\ngot %s, want %s", test.lines, got, test.want)
		}
	}
}
