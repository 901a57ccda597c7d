package suite

import (
	"path/filepath"
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/images"
)

// tutorialPage is the page of the documentation that needs a cluster with nodes.
const tutorialPage = "docs/tutorial-cluster.md"

// testTutorial executes the tutorial on a cluster: all commands must succeed with the output on the page, and the cluster is
// unchanged at the end.
func (b *bench) testTutorial(t *testing.T) {
	var programs []string
	for _, packages := range []string{images.OLMPackages, images.ClusterPackages} {
		dir, err := images.Build(b.ctx, b.root, filepath.Join(b.cache, "e2e"), packages, b.progress.Say)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, dir)
	}
	if err := images.Push(b.ctx, b.registry, programs, images.OLMImages()); err != nil {
		t.Fatal(err)
	}
	runner := filepath.Join(t.TempDir(), "tutorial")
	b.run(t, b.root, "go", "build", "-o", runner, "./testdata/tutorial")
	before := b.objects(t)
	b.run(t, b.root, runner, "-operon", b.operon, "-registry", b.registry, tutorialPage)
	b.backTo(t, before)
}
