package suite

import (
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/cluster"
)

// tutorialPage is the page of the documentation that needs a cluster with nodes.
const tutorialPage = "docs/tutorial-cluster.md"

// testTutorial executes the tutorial on a cluster: all commands must succeed with the output on the page, and the cluster is
// unchanged at the end.
func (b *bench) testTutorial(t *testing.T) {
	b.get(t, &b.products.olm)
	runner := b.get(t, &b.products.tutorial)
	before := b.objects(t, cluster.Scope{})
	b.run(t, b.root, runner, "-operon", b.operon, "-registry", b.registry, tutorialPage)
	b.backTo(t, before)
}
