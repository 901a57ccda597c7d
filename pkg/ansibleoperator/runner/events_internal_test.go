package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// collect returns the result of lines of events.
func collect(t *testing.T, lines ...string) *events {
	t.Helper()
	c := &events{}
	if err := read(strings.NewReader(strings.Join(lines, "\n")), func(e event) { c.add(e) }); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEvents(t *testing.T) {
	t.Parallel()
	c := collect(t,
		`{"event":"operon_start"}`, `not JSON`, ``, `{"event":1}`, `{"event":"runner_on_ok","event_data":{"task_action":"requeue_after","res":null}}`,
		`{"event":"runner_on_ok","event_data":{"task_action":"debug","res":{"period":"1s"}}}`,
		`{"event":"runner_on_failed","event_data":{"host":"a","ignore_errors":null,"res":{"msg":{"a":1}}}}`,
		`{"event":"runner_on_failed","event_data":{"host":"a","task":"t","res":{}}}`,
		`{"event":"runner_on_unreachable","event_data":{"host":"b","res":{"msg":"unreachable"}}}`,
		`{"event":"playbook_on_stats","created":"2026-01-02T03:04:05.000006+00:00","event_data":{"failures":{"a":2},"dark":{"b":1},"rescued":0,"ok":{"a":"x","b":3}}}`,
	)
	if !c.started || c.requeue != nil || c.stats == nil || c.stats.OK != 3 || c.stats.Unreachable != 1 {
		t.Errorf("%+v %+v", c, c.stats)
	}
	if want := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC); !c.completion.Equal(want) {
		t.Errorf("completion %s, want %s", c.completion, want)
	}
	if got, want := strings.Join(c.messages(nil), "|"), `{"a":1}|task "t" failed|unreachable`; got != want {
		t.Errorf("messages %s, want %s", got, want)
	}
	c = collect(t, `{"event":"`+strings.Repeat("a", maxEventBytes+1)+`"}`, `{"event":"runner_on_ok","event_data":{"resolved_action":"operator_sdk.util.requeue_after","res":{"period":"5s"}}}`)
	if c.requeue == nil || *c.requeue != 5*time.Second {
		t.Errorf("%+v", c)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("{\"event\":\"runner_on_failed\",\"event_data\":{\"res\":{\"results\":[{\"failed\":true,\"msg\":1}]}}}\n{\"event\":\"playbook_on_stats\"}")
	f.Add("{\"event\":\"runner_on_ok\",\"event_data\":{\"task_action\":\"requeue_after\",\"res\":{\"period\":[]}}}")
	f.Fuzz(func(t *testing.T, text string) {
		c := collect(t, text)
		for _, message := range c.messages(nil) {
			if len(message) > maxMessage+len("…") {
				t.Errorf("a message has %d bytes", len(message))
			}
		}
	})
}

func TestInterpreter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	python := filepath.Join(dir, "python3")
	if err := os.WriteFile(python, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	e := &environment{values: map[string]string{"PATH": dir}, dir: dir}
	for text, want := range map[string]string{
		"#!/usr/bin/python3\n":                                           "/usr/bin/python3",
		"#! /usr/bin/python3.12 -sP\nimport sys\n":                       "/usr/bin/python3.12 -sP",
		"#!/usr/bin/env python3\n":                                       python,
		"#!/usr/bin/env -S python3 -s\n":                                 python + " -s",
		"#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n' '''\n": "/a b/bin/python",
		"#!/usr/bin/env bash\nexec pyenv\n":                              "",
		"\x7fELF":                                                        "",
		"":                                                               "",
	} {
		script := filepath.Join(dir, "script")
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		path, flags := e.interpreter(script)
		if got := strings.TrimSpace(path + " " + strings.Join(flags, " ")); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestUnquote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "'": "'", "''": "", "-e a=b": "-e a=b", "'-e a=b'": "-e a=b", " '--vault-password-file /a' ": "--vault-password-file /a",
		"-e 'a=b c'": "-e 'a=b c'", "'-e 'a=b c''": "-e 'a=b c'",
	} {
		if got := unquote(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
