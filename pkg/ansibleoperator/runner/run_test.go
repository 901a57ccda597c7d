package runner_test

import (
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	result := e.run(e.playbook("ok", "- debug: {msg: hello}\n- ping:\n"))
	if result.Failed() || result.Stats.OK != 2 || result.Completion.IsZero() {
		t.Errorf("%+v", result)
	}
}
