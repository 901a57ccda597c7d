package suite

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/images"
)

// A product is a project, program or image that several tests need. It is made once: in advance by testBuilds, or by the first test that
// needs it. A failed attempt is repeated, so that each test that needs the product reports the failure.
type product struct {
	name string
	// from is the product that this one is made from, or nil.
	from *product
	// make returns a path, if the product has one. It is called with the path of from.
	make func(t *testing.T, from string) string

	mu   sync.Mutex
	done bool
	path string
}

// products are what tests need. All images are in the registry.
type products struct {
	// building is held while a product is made: two builds at the same time would compile the same packages twice.
	building sync.Mutex

	manager, selfManaged, ownTests, nextBundle, catalog, scorecard, olm, shell, tutorial product
	// projects are those of the runtime operators with the image of version 0.0.1, bundles with its bundle, and upgrades those of 0.0.2, by
	// name of the operator.
	projects, bundles, upgrades map[string]*product
}

// get returns the path of a product.
func (b *bench) get(t *testing.T, p *product) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.done {
		var from string
		if p.from != nil {
			from = b.get(t, p.from)
		}
		b.products.building.Lock()
		defer b.products.building.Unlock()
		p.path = p.make(t, from)
		p.done = true
		b.progress.Done(p.name)
	}
	return p.path
}

// testBuilds makes all products in the order in which tests need them, while the tests wait for the cluster.
func (b *bench) testBuilds(t *testing.T) {
	p := &b.products
	for _, next := range []*product{
		&p.manager, &p.selfManaged, &p.scorecard, p.projects["ledger-operator"], p.projects["cellar-operator"], &p.ownTests, &p.olm, &p.nextBundle, &p.shell,
		p.bundles["ledger-operator"], p.bundles["cellar-operator"], &p.catalog, p.upgrades["ledger-operator"], p.upgrades["cellar-operator"], &p.tutorial,
	} {
		b.get(t, next)
	}
}

// defineProducts states how products are made. Their files are removed with the test t.
func (b *bench) defineProducts(t *testing.T) {
	dir := t.TempDir()
	p := &b.products
	p.manager = product{name: "image of memcached-operator pushed", make: func(t *testing.T, _ string) string {
		b.run(t, copyTo(t, filepath.Join(dir, "manager"), filepath.Join(b.root, project)), "make", "image-build", "image-push", "IMG="+b.registry+"/"+projectImage)
		return ""
	}}
	p.selfManaged = product{name: "image of memcached-operator with its own certificates pushed", make: func(t *testing.T, _ string) string {
		own := copyTo(t, filepath.Join(dir, "self-managed"), filepath.Join(b.root, project))
		b.pushSelfManaged(t, own)
		return own
	}}
	p.ownTests = product{name: "tests of memcached-operator compiled", make: func(t *testing.T, _ string) string {
		own := copyTo(t, filepath.Join(dir, "own"), filepath.Join(b.root, project))
		b.run(t, own, "go", "vet", "./...")
		b.run(t, own, "go", "test", "-tags=e2e", "-c", "-o", filepath.Join(dir, "own.test"), "./test/e2e")
		return ""
	}}
	p.nextBundle = product{name: "next version of memcached-operator and its bundle pushed", make: func(t *testing.T, _ string) string {
		next := copyTo(t, filepath.Join(dir, "next"), filepath.Join(b.root, project))
		b.pushNext(t, next)
		return next
	}}
	p.catalog = product{name: "bundle and catalog of memcached-operator pushed", make: func(t *testing.T, _ string) string {
		b.pushCatalog(t, copyTo(t, filepath.Join(dir, "catalog"), filepath.Join(b.root, project)))
		return ""
	}}
	p.scorecard = product{name: "images of scorecard pushed", make: func(t *testing.T, _ string) string {
		b.pushScorecard(t)
		return ""
	}}
	p.olm = product{name: "images of OLM pushed", make: func(t *testing.T, _ string) string {
		b.pushOLM(t)
		return ""
	}}
	p.shell = product{name: "image with a shell pushed", make: func(t *testing.T, _ string) string {
		b.pushShell(t)
		return ""
	}}
	p.tutorial = product{name: "runner of tutorials built", make: func(t *testing.T, _ string) string {
		runner := filepath.Join(dir, "tutorial")
		b.run(t, b.root, "go", "build", "-o", runner, "./testdata/tutorial")
		return runner
	}}
	p.projects, p.bundles, p.upgrades = map[string]*product{}, map[string]*product{}, map[string]*product{}
	for _, o := range b.runtimeOperators() {
		p.projects[o.name] = &product{name: "image of " + o.name + " pushed", make: func(t *testing.T, _ string) string {
			project := filepath.Join(dir, o.name)
			if err := os.MkdirAll(project, 0o755); err != nil {
				t.Fatal(err)
			}
			o.scaffold(t, project)
			b.pushRuntimeOperator(t, project, o, "v0.0.1")
			return project
		}}
		p.bundles[o.name] = &product{name: "bundle of " + o.name + " pushed", from: p.projects[o.name], make: func(t *testing.T, from string) string {
			project := copyTo(t, filepath.Join(dir, o.name+"-bundle"), from)
			b.pushRuntimeBundle(t, project, o, "0.0.1")
			return project
		}}
		p.upgrades[o.name] = &product{name: "next version of " + o.name + " and its bundle pushed", from: p.bundles[o.name], make: func(t *testing.T, from string) string {
			project := copyTo(t, filepath.Join(dir, o.name+"-next"), from)
			o.change(t, project)
			b.run(t, project, b.operon, "generate")
			b.pushRuntimeOperator(t, project, o, "v0.0.2")
			b.pushRuntimeBundle(t, project, o, "0.0.2")
			return project
		}}
	}
}

// copyTo replaces the directory to with a copy of another one.
func copyTo(t *testing.T, to, from string) string {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// copyProject copies the golden project, for commands that change it.
func (b *bench) copyProject(t *testing.T) string {
	t.Helper()
	return copyTo(t, filepath.Join(t.TempDir(), "memcached-operator"), filepath.Join(b.root, project))
}

// buildPrograms builds the programs of images, unless that has been done before.
func (b *bench) buildPrograms(t *testing.T, packages ...string) (dirs []string) {
	t.Helper()
	for _, name := range packages {
		dir, err := images.Build(b.ctx, b.root, filepath.Join(b.cache, "e2e"), name, b.progress.Say)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}
