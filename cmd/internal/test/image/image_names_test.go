package image

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestImageNames checks that all commands validate image names in the same way.
func TestImageNames(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	for name, want := range map[string]string{
		"quay.io/Team/operator:V1":  `must be in lower case before the tag; character 9 is 'T'; did you mean "quay.io/team/operator:V1"?`,
		"quay.io/team/oper!ator":    `character 18 must not be '!'; names consist of lower-case letters and digits, with '.', '_' and '-' between them`,
		"quay.io/team/operator-:v1": `character 22, '-', must be alone between letters or digits`,
		"quay.io/team/operator:":    `must have a tag after the colon; did you mean "quay.io/team/operator"?`,
		"quay.io/team/operator:v 1": `must not contain spaces`,
		"https://quay.io/team/op":   `must be an image reference such as registry.example.com/team/operator:v1, without https://; did you mean "quay.io/team/op"?`,
		"quay.io/op@sha256:12":      `digest "sha256:12" must have 64 lower-case hexadecimal digits after sha256`,
	} {
		for _, c := range []struct {
			flag string
			args []string
		}{
			{"--image", []string{"create", "api", "--group", "cache", "--version", "v1", "--kind", "Other", "--image"}},
			{"--image", []string{"bundle", "--image"}},
			{"--image", []string{"image", "build", "--tarball", "x.tar", "--image"}},
			{"--image", []string{"image", "bundle", "--tarball", "x.tar", "--image"}},
			{"--image", []string{"image", "catalog", "--tarball", "x.tar", "--image"}},
			{"IMAGE", []string{"image", "load", "x.tar"}},
			{"--base", []string{"image", "build", "--tarball", "x.tar", "--base"}},
			{"--base-image", []string{"generate", "catalog", "--base-image"}},
			{"--from-image", []string{"generate", "catalog", "--from-image"}},
			{"--index-image", []string{"run", "bundle", "bundle", "--index-image"}},
			{"--decompression-image", []string{"run", "bundle", "bundle", "--decompression-image"}},
			{"--push-catalog", []string{"run", "bundle", "bundle", "--push-catalog"}},
			{"--storage-image", []string{"scorecard", "bundle", "--storage-image"}},
			{"--untar-image", []string{"scorecard", "bundle", "--untar-image"}},
			{"--olm-image", []string{"olm", "install", "--olm-image"}},
			{"--catalog-image", []string{"olm", "install", "--catalog-image"}},
		} {
			code, out, errOut := imageCall(t, dir, nil, append(c.args, name)...)
			if code != 2 || out != "" || !strings.Contains(errOut, c.flag+` "`+name+`": `+want+"\n") {
				t.Errorf("%s %q: exit code %d\n%s%s", strings.Join(c.args, " "), name, code, out, errOut)
			}
		}
	}
}
