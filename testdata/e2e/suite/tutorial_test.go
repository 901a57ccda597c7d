package suite

import (
	"path/filepath"
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/images"
)

// tutorialSection is the section of the README that needs a cluster with nodes.
const tutorialSection = "Tutorial on a cluster"

// testTutorial executes the README's tutorial on a cluster: every command must succeed and print what stands there. It
// leaves the cluster as it was.
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
	b.run(t, b.root, runner, "-operon", b.operon, "-section", tutorialSection, "-registry", b.registry, "README.md")
	b.backTo(t, before)
}
