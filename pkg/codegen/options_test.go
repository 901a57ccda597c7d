package codegen

import "testing"

// TestModernOption checks options of CRDs as older Makefiles have them, with and without blanks.
func TestModernOption(t *testing.T) {
	t.Parallel()
	for old, want := range map[string]string{
		"crd:trivialVersions=true,preserveUnknownFields=false":                     "crd:deprecatedV1beta1CompatibilityPreserveUnknownFields=false",
		"crd:trivialVersions=true, preserveUnknownFields=false, crdVersions=v1":    "crd:deprecatedV1beta1CompatibilityPreserveUnknownFields=false, crdVersions=v1",
		"crd:crdVersions=v1, trivialVersions":                                      "crd:crdVersions=v1",
		"object:headerFile=hack/boilerplate.go.txt,year=2024,trivialVersions=true": "object:headerFile=hack/boilerplate.go.txt,year=2024,trivialVersions=true",
	} {
		if got := modernOption(old); got != want {
			t.Errorf("%s: got %s, want %s", old, got, want)
		}
	}
}
