package pages

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/testdata/documented"
)

// A project is what the commands of a page run in.
type project struct {
	// commands make the project; nil is a copy of the golden project memcached-operator.
	commands []string
	// fresh makes a new project for each block of commands.
	fresh bool
	// before has edits before the first, second and so on execution of a command.
	before map[string][]func(*page)
	// leftOut are the numbers of blocks whose commands are only parsed: they show another project.
	leftOut []int
	// complete means that all declarations in Go on the page make a controller.
	complete bool
}

const (
	initialize = "init --domain example.com --repo github.com/example/memcached-operator --project-name memcached-operator"
	createAPI  = "create api --group cache --version v1alpha1 --kind Memcached --resource --controller"
)

// plain makes a project with a kind that has no webhooks, withWebhook one whose kind has one.
var (
	plain       = []string{initialize, createAPI}
	withWebhook = []string{initialize, createAPI, "create webhook --group cache --version v1alpha1 --kind Memcached --defaulting"}
)

// projects are the projects of pages, by page. Other pages use a copy of the golden project.
var projects = map[string]project{
	"catalogs.md": {leftOut: []int{2}},
	"cel.md": {commands: plain, before: map[string][]func(*page){"operon generate": {
		func(*page) {},
		edit("api/v1alpha1/memcached_types.go", "self.minSize <= self.maxSize", "self.minSize <= self.maxsize"),
		func(p *page) {
			edit("api/v1alpha1/memcached_types.go", "self.minSize <= self.maxsize", "self.minSize <= self.maxSize")(p)
			edit("api/v1alpha1/memcached_types.go", "	// +kubebuilder:validation:MaxItems=10\n	// +kubebuilder:validation:items:MaxLength=63\n", "")(p)
			edit("api/v1alpha1/memcached_types.go", `rule="self.all(z, z.startsWith('zone-'))",message="each zone must begin with zone-"`, `rule="self.all(a, !self.exists(b, b != a && b.startsWith(a)))",message="no zone may be the prefix of another"`)(p)
		},
	}}},
	"certificates.md": {commands: plain, fresh: true},
	"ci.md": {before: map[string][]func(*page){"operon catalog validate catalog": {
		func(p *page) {
			p.must("operon", "generate", "catalog", "--image", "registry.example.com/bundle:v{{.Version}}")
		},
	}}},
	"csv-markers.md":    {commands: plain, before: map[string][]func(*page){"operon bundle": {editCSV}}},
	"external-types.md": {commands: plain},
	"helm.md":           {commands: []string{"init --plugins helm --domain example.com"}, before: map[string][]func(*page){"operon chart images --related": {useChart}}},
	"layout.md": {commands: withWebhook, fresh: true, before: map[string][]func(*page){"operon init --plugins go/v4,grafana/v1-alpha --domain example.com": {
		func(p *page) {
			clitest.WriteFile(p.T, filepath.Join(p.dir, "go.mod"), "module github.com/example/memcached-operator\n")
		},
	}}},
	// TestMigration and the upgrade tests execute the blocks that are left out.
	"migration.md":         {commands: plain, leftOut: []int{7, 8}, before: map[string][]func(*page){"operon generate --dry-run": {forgetOLM}}},
	"patterns.md":          {complete: true},
	"server-side-apply.md": {commands: []string{initialize}},
	"webhooks.md":          {commands: plain},
}

// forgetOLM removes what kubebuilder's projects don't have.
func forgetOLM(p *page) {
	p.Helper()
	for _, dir := range []string{"manifests", "scorecard"} {
		if err := os.RemoveAll(filepath.Join(p.dir, "config", dir)); err != nil {
			p.Fatal(err)
		}
	}
	edit("PROJECT", "plugins:\n  manifests.sdk.operatorframework.io/v2: {}\n  scorecard.sdk.operatorframework.io/v2: {}\n", "")(p)
	makefile := filepath.Join(p.dir, "Makefile")
	before, olm, _ := strings.Cut(clitest.ReadFile(p.T, makefile), "##@ Operator Lifecycle Manager")
	_, after, _ := strings.Cut(olm, "##@ Tools")
	clitest.WriteFile(p.T, makefile, before+"##@ Tools"+after)
}

// useChart adds a kind with a chart, and the chart of a later command.
func useChart(p *page) {
	p.Helper()
	if err := os.CopyFS(filepath.Join(p.dir, "charts", "memcached"), os.DirFS(clitest.Testdata("charts", "shop"))); err != nil {
		p.Fatal(err)
	}
	p.must("operon", "create", "api", "--helm-chart", "charts/memcached", "--kind", "App")
}

// editCSV adds the markers of docs/csv-markers.md and compares the entries in the base with the page. Then it edits a value in the base
// and in the code.
func editCSV(p *page) {
	p.Helper()
	text := documented.Page(p.T, "csv-markers.md")
	_, code, _ := strings.Cut(text, "```go\n")
	spec, code, _ := strings.Cut(code, "\n\n")
	_, marker, _ := strings.Cut(code, "+kubebuilder:subresource:status\n")
	marker, _, _ = strings.Cut(marker, "\n")
	const types, base = "api/v1alpha1/memcached_types.go", "config/manifests/bases/memcached-operator.clusterserviceversion.yaml"
	if err := replaceDeclarations(filepath.Join(p.dir, filepath.FromSlash(types)), "package p\n"+spec, false); err != nil {
		p.Fatal(err)
	}
	edit(types, "// +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1}}\n", marker+"\n")(p)
	p.must("operon", "bundle")
	var want, got struct {
		Spec struct{ CustomResourceDefinitions map[string]any }
	}
	for text, value := range map[string]any{
		documented.Example(p.T, "csv-markers.md", "spec:", "specDescriptors"): &want, clitest.ReadFile(p.T, filepath.Join(p.dir, filepath.FromSlash(base))): &got,
	} {
		if err := yaml.Unmarshal([]byte(text), value); err != nil {
			p.Fatal(err)
		}
	}
	if !reflect.DeepEqual(got, want) {
		p.Errorf("the base has %v\nwant %v", got, want)
	}
	edit(base, "displayName: Pods", "displayName: Number of pods")(p)
	edit(types, `displayName="Pods"`, `displayName="Pod count"`)(p)
}

// edit replaces a text in a file of the project.
func edit(file, before, after string) func(*page) {
	return func(p *page) {
		p.Helper()
		clitest.Substitute(p.T, filepath.Join(p.dir, filepath.FromSlash(file)), before, after)
	}
}
