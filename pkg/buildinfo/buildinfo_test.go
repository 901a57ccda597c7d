package buildinfo

import (
	"runtime/debug"
	"testing"
)

// TestFromModule checks what version prints of builds that "make build" did not make.
func TestFromModule(t *testing.T) {
	t.Parallel()
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
			{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: modified},
		}
	}
	for name, test := range map[string]struct {
		module   string
		settings []debug.BuildSetting
		want     Info
	}{
		"no information":         {"(devel)", nil, Info{Version: release, Commit: "unknown", CommitDate: "unknown"}},
		"module at a tag":        {"v0.2.0", nil, Info{Version: "v0.2.0", Commit: "unknown", CommitDate: "unknown"}},
		"module at a commit":     {"v0.2.1-0.20260102030405-0123456789ab", nil, Info{Version: release, Commit: "0123456789ab", CommitDate: "2026-01-02T03:04:05Z"}},
		"clone without tags":     {"v0.0.0-20260102030405-0123456789ab", vcs("false"), Info{Version: release, Commit: "0123456789abcdef0123456789abcdef01234567", CommitDate: "2026-01-02T03:04:05Z"}},
		"clone at a tag":         {"v0.2.0", vcs("false"), Info{Version: "v0.2.0", Commit: "0123456789abcdef0123456789abcdef01234567", CommitDate: "2026-01-02T03:04:05Z"}},
		"clone with other files": {"v0.0.0-20260102030405-0123456789ab+dirty", vcs("true"), Info{Version: release, Commit: "0123456789abcdef0123456789abcdef01234567-dirty", CommitDate: "2026-01-02T03:04:05Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			build := &debug.BuildInfo{Main: debug.Module{Version: test.module}, Settings: test.settings}
			if got := fromModule(build); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestFromModuleInOtherProgram checks that a program of another module that imports this one reports the version of this module.
func TestFromModuleInOtherProgram(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		replace *debug.Module
		want    Info
	}{
		"required": {nil, Info{Version: "v0.2.0", Commit: "unknown", CommitDate: "unknown"}},
		"replaced": {&debug.Module{Path: "../operon"}, Info{Version: release, Commit: "unknown", CommitDate: "unknown"}},
	} {
		build := &debug.BuildInfo{
			Main:     debug.Module{Path: "example.com/shop", Version: "v7.0.0"},
			Deps:     []*debug.Module{{Path: "example.com/a", Version: "v8.0.0"}, {Path: modulePath, Version: "v0.2.0", Replace: test.replace}},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}},
		}
		if got := fromModule(build); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}
