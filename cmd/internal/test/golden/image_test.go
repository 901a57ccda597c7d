package golden

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestImagesOfOneKind creates APIs with images for kinds of the same name in two groups and two versions. Each controller has its
// own environment variable, and keeps it and the stored version when it is rewritten.
func TestImagesOfOneKind(t *testing.T) {
	t.Parallel()
	const third = " --group ship --version v2 --kind Memcached --controller-name second --image third:1"
	dir := clitest.NewProject(t,
		"init --domain example.com --repo example.com/images --multigroup",
		"create api --group cache --version v1 --kind Memcached --image first:1",
		"create api --group ship --version v1 --kind Memcached --image second:1",
		"create api"+third,
		"create api --group cache --version v1 --kind Memcached --image first:2 --force",
		"create api --group ship --version v1 --kind Memcached --image second:2 --force",
	)
	files := clitest.ReadTree(t, dir)
	for variable, image := range map[string]string{"MEMCACHED_IMAGE": "first:2", "SHIP_MEMCACHED_IMAGE": "second:2", "SHIP_V2_MEMCACHED_IMAGE": "third:1"} {
		if n := strings.Count(files["config/manager/manager.yaml"], "- name: "+variable+"\n          value: "+image+"\n"); n != 1 {
			t.Errorf("config/manager/manager.yaml has %s with %s %d times:\n%s", variable, image, n, files["config/manager/manager.yaml"])
		}
		if n := strings.Count(files["cmd/main.go"], `os.Getenv("`+variable+`")`); n != 1 {
			t.Errorf("cmd/main.go reads %s %d times", variable, n)
		}
	}
	clitest.MustRun(t, dir, "delete", "api", "--group", "cache", "--version", "v1", "--kind", "Memcached")
	before := clitest.ReadTree(t, dir)
	clitest.MustRun(t, dir, strings.Fields("create api"+third+" --force")...)
	after := clitest.ReadTree(t, dir)
	for name := range before {
		if after[name] != before[name] {
			t.Errorf("%s is another after the same was created again", name)
		}
	}
	clitest.CheckTypes(t, dir, ".")
}
