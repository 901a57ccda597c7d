package cmd

import (
	"io"
	"testing"
	"time"
)

func TestManagerLog(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		logs           string
		terminal       bool
		variable       string
		compact, color bool
	}{
		{"", true, "", true, true},
		{"", true, "NO_COLOR=1", true, false},
		{"", true, "TERM=dumb", true, false},
		{"", false, "", false, false},
		{"full", true, "", false, true},
		{"compact", false, "", true, false},
	} {
		env := &Env{Out: io.Discard, OutTerminal: tc.terminal, Environ: []string{tc.variable}, Now: time.Now}
		log := managerLog(env, tc.logs)
		if log.Compact != tc.compact || log.Color != tc.color {
			t.Errorf("%+v: compact %t, color %t", tc, log.Compact, log.Color)
		}
	}
}
