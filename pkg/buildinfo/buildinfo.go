// Package buildinfo identifies the build of a program of this module: its version, commit and toolchain.
package buildinfo

import (
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/mod/module"
)

// release is the version of this source tree. "make release" sets it with the linker's -X flag, and the version of a tagged
// module overrides it.
var release = "v0.1.0-dev"

// commit and commitDate identify the commit that the program was built from. "make build" sets them with the linker's
// -X flag. They are empty in other builds, which fromModule identifies by what the go command records.
var commit, commitDate string

// controlPlaneURL and controlPlaneSHA256 identify the archive with the control plane for this platform. "make release" sets them with the
// linker's -X flag; they are empty in other builds.
var controlPlaneURL, controlPlaneSHA256 string

// ControlPlane returns where the release of this build has the archive with the control plane for this platform, and its digest in
// hexadecimal. Both are empty if there is none.
func ControlPlane() (url, sha256 string) { return controlPlaneURL, controlPlaneSHA256 }

// unknown replaces a commit or date that a build does not record.
const unknown = "unknown"

// Info describes a build. Its JSON keys are part of the interface of the version commands.
type Info struct {
	Version    string `json:"version"`
	Commit     string `json:"commit"`
	CommitDate string `json:"commitDate"`
	// Kubernetes is the version of the Kubernetes libraries, set by the caller.
	Kubernetes string `json:"kubernetesVersion"`
	Go         string `json:"goVersion"`
	OS         string `json:"goOs"`
	Arch       string `json:"goArch"`
}

// Read returns the description of this build.
func Read() Info {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	info := fromModule(build)
	if commit != "" {
		info.Commit, info.CommitDate = commit, commitDate
	}
	info.Go, info.OS, info.Arch = runtime.Version(), runtime.GOOS, runtime.GOARCH
	return info
}

// modulePath is the path of this module.
const modulePath = "github.com/operon-sdk/operon"

// fromModule returns the version, the commit and its date that the go command recorded: in a clone
// from the repository, in a downloaded module from its pseudo-version. In another module's program, they still describe this module.
func fromModule(build *debug.BuildInfo) Info {
	for _, dep := range build.Deps {
		if dep.Path == modulePath {
			if dep.Replace != nil {
				dep = dep.Replace
			}
			build = &debug.BuildInfo{Main: *dep}
			break
		}
	}
	info := Info{Version: release, Commit: unknown, CommitDate: unknown}
	switch v := build.Main.Version; {
	case v == "" || v == "(devel)":
	case !module.IsPseudoVersion(v):
		info.Version = v
	default:
		if revision, err := module.PseudoVersionRev(v); err == nil {
			info.Commit = revision
		}
		if date, err := module.PseudoVersionTime(v); err == nil {
			info.CommitDate = date.Format(time.RFC3339)
		}
	}
	modified := false
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Commit = s.Value
		case "vcs.time":
			info.CommitDate = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified {
		info.Commit += "-dirty"
	}
	return info
}
