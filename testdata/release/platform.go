package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// A platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// executable returns the name of a program's file.
func (p platform) executable(program string) string {
	if p.os == "windows" {
		return program + ".exe"
	}
	return program
}

// hasPackages reports whether there are deb and rpm packages for the platform.
func (p platform) hasPackages() bool { return p.os == "linux" }

// host is the platform of this machine.
func host() platform { return platform{runtime.GOOS, runtime.GOARCH} }

// supported are the platforms of a release.
func supported() []platform {
	return []platform{
		{"linux", "amd64"}, {"linux", "arm64"}, {"linux", "ppc64le"}, {"linux", "s390x"},
		{"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
	}
}

// parsePlatforms returns platforms from a list that spaces or commas separate, without duplicates and in the order of supported. An empty
// list means all.
func parsePlatforms(list string) ([]platform, error) {
	wanted := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' })
	if len(wanted) == 0 {
		return supported(), nil
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(supported(), func(p platform) bool { return p.String() == name }) {
			return nil, fmt.Errorf("platform %q: must be one of %v", name, supported())
		}
	}
	return slices.DeleteFunc(supported(), func(p platform) bool { return !slices.Contains(wanted, p.String()) }), nil
}
