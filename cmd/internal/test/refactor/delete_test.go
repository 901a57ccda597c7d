package refactor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestDeleteUndoesCreate checks that create followed by delete changes no byte, in projects of all layouts and at each step.
func TestDeleteUndoesCreate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before         []string
		create, delete string
	}{
		"the first API": {
			[]string{"init --domain example.com --repo example.com/undo"},
			createBoth + "--group cache --version v1 --kind Memcached",
			"--group cache --version v1 --kind Memcached",
		},
		"an image": {
			[]string{"init --domain example.com --repo example.com/undo", createBoth + "--group cache --version v1 --kind Redis --image redis:7"},
			"create api --group cache --version v1 --kind Memcached --image memcached:1 --image-container-port 11211",
			"--group cache --version v1 --kind Memcached",
		},
		"the first image": {
			[]string{"init --domain example.com --repo example.com/undo"},
			"create api --group cache --version v1 --kind Memcached --image memcached:1 --namespaced=false",
			"--group cache --version v1 --kind Memcached",
		},
		"types alone": {
			[]string{"init --domain example.com --repo example.com/undo --license none"},
			"create api --resource --controller=false --group cache --version v1 --kind Memcached",
			"--group cache --version v1 --kind Memcached",
		},
		"a second kind": {
			[]string{"init --domain example.com --repo example.com/undo", createBoth + "--group cache --version v1 --kind Redis"},
			createBoth + "--group cache --version v1 --kind Memcached --plural memcaches --namespaced=false",
			"--group cache --version v1 --kind Memcached",
		},
		"a second version": {
			[]string{"init --domain example.com --repo example.com/undo", createBoth + "--group cache --version v1 --kind Memcached"},
			"create api --resource --controller=false --group cache --version v2 --kind Memcached",
			"--group cache --version v2 --kind Memcached",
		},
		"a second group": {
			[]string{"init --domain example.com --repo example.com/undo --multigroup --namespaced", createBoth + "--group cache --version v1 --kind Memcached"},
			createBoth + "--group ship --version v1 --kind Memcached",
			"--group ship --version v1 --kind Memcached",
		},
		"a second controller": {
			[]string{"init --domain example.com --repo example.com/undo", createBoth + "--group cache --version v1 --kind Memcached --image memcached:1"},
			"create api --resource=false --controller --group cache --version v1 --kind Memcached --controller-name memcached-backup",
			"--group cache --version v1 --kind Memcached --controller-name memcached-backup",
		},
		"a kind of Kubernetes": {
			[]string{"init --domain example.com --repo example.com/undo", createBoth + "--group cache --version v1 --kind Memcached"},
			"create api --resource=false --controller --group apps --version v1 --kind Deployment",
			"--group apps --version v1 --kind Deployment",
		},
		"the first controller, of Kubernetes": {
			[]string{"init --domain example.com --repo example.com/undo --multigroup"},
			"create api --resource=false --controller --group core --version v1 --kind Pod",
			"--group core --version v1 --kind Pod",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "a second group" {
				clitest.SkipIfShort(t, "one layout suffices")
			}
			dir := clitest.NewProject(t, test.before...)
			before := clitest.CopyTree(t, dir)
			clitest.MustRun(t, dir, strings.Fields(test.create)...)
			clitest.MustRun(t, dir, strings.Fields("delete api "+test.delete)...)
			clitest.CompareTrees(t, before, dir)
			clitest.MustRun(t, dir, "generate", "--check")
		})
	}
}

// TestDeleteFromTheMiddle deletes APIs in another order than they were created.
func TestDeleteFromTheMiddle(t *testing.T) {
	clitest.SkipIfShort(t, "type-checks many projects")
	t.Parallel()
	dir := clitest.NewProject(t, "init --domain example.com --repo example.com/middle")
	empty := clitest.CopyTree(t, dir)
	for _, command := range []string{
		createBoth + "--group cache --version v1 --kind Memcached --image memcached:1",
		createBoth + "--group cache --version v1 --kind Redis",
		"create api --resource=false --controller --group apps --version v1 --kind Deployment",
		createBoth + "--group cache --version v2 --kind Valkey",
		"create api --resource --controller=false --group cache --version v2 --kind Redis",
		"create api --resource --controller=false --group cache --version v3 --kind Redis",
		"create api --resource=false --controller --group cache --version v1 --kind Redis --controller-name redis-backup",
	} {
		clitest.MustRun(t, dir, strings.Fields(command)...)
	}
	for _, api := range []string{
		"--group cache --version v1 --kind Memcached", "--group cache --version v1 --kind Redis", "--group cache --version v2 --kind Valkey",
		"--group cache --version v2 --kind Redis", "--group apps --version v1 --kind Deployment", "--group cache --version v3 --kind Redis",
	} {
		clitest.MustRun(t, dir, strings.Fields("delete api "+api)...)
		checkWhole(t, dir)
		if t.Failed() {
			t.Fatalf("after delete api %s", api)
		}
	}
	clitest.CompareTrees(t, empty, dir)
	entries, err := os.ReadDir(filepath.Join(dir, "api"))
	if err == nil {
		t.Errorf("the directory api still exists, with %d entries", len(entries))
	}
}

// TestDeleteMoved deletes from a group whose suite was created by edit --multigroup and registers a kind of another
// module, after a controller was overwritten.
func TestDeleteMoved(t *testing.T) {
	clitest.SkipIfShort(t, "type-checks many projects")
	t.Parallel()
	const redis = "--group cache --version v1 --kind Redis"
	dir := clitest.NewProject(t,
		"init --domain example.com --repo example.com/moved",
		"create api --resource=false --controller --group apiextensions --version v1 --kind CustomResourceDefinition"+
			" --external-api-path k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1 --external-api-domain k8s.io",
		createBoth+redis,
		"edit --multigroup",
	)
	moved := clitest.CopyTree(t, dir)
	clitest.MustRun(t, dir, strings.Fields(createBoth+redis+" --force")...)
	clitest.CompareTrees(t, moved, dir)
	clitest.MustRun(t, dir, strings.Fields("delete api "+redis)...)
	clitest.MustRun(t, dir, strings.Fields("delete api --group apiextensions --version v1 --kind CustomResourceDefinition")...)
	clitest.CompareTrees(t, clitest.NewProject(t, "init --domain example.com --repo example.com/moved --multigroup"), dir)
}
