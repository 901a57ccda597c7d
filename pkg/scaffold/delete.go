package scaffold

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Deletion says what Delete undoes.
type Deletion struct {
	// Going is the data of the create api commands that made what goes; of several that write the same file
	// one must have made it. Staying is that of all others, whose files and texts are needed on.
	Going, Staying []Data
	// GoingWebhooks and StayingWebhooks are the same for create webhook. A kind may be in both, with some of
	// its webhooks in each.
	GoingWebhooks, StayingWebhooks []Webhooks
	// Force deletes what a person has edited too.
	Force bool
}

// EditedError lists what a person has edited of the things that a command is to delete.
type EditedError struct {
	// Places are files, and texts within files, sorted.
	Places []string
}

func (e *EditedError) Error() string {
	what := "this was edited since it was"
	if len(e.Places) > 1 {
		what = fmt.Sprintf("these %d were edited since they were", len(e.Places))
	}
	return fmt.Sprintf("%s scaffolded, nothing was deleted:\n  %s\n"+
		"save what you need of it and give --force to delete it all the same", what, strings.Join(e.Places, "\n  "))
}

// rendering is what the create commands of some data write.
type rendering struct {
	files map[string][][]byte // all that a file may hold
	// extended are Go files that several commands write to, each some declarations.
	extended map[string][][]byte
	inserts  map[string]map[string]map[string]bool // file → marker → texts
	// suites are the texts that a suite may hold, those of other groups among them.
	suites map[string]map[string]map[string]bool // base name → marker → texts
}

// renderStaying renders what the project needs on. Controllers and webhooks that it keeps in another place than create
// puts them, as projects of older tools do, need nothing of what create writes.
func renderStaying(tree *worktree.Tree, apis []Data, webhooks []Webhooks) (*rendering, error) {
	var there []Data
	for _, data := range apis {
		if err := data.Project.FindPaths(tree); err != nil {
			return nil, err
		}
		if data.Resource.Controller && !tree.Exists(outputPath("internal/controller/GROUP/CONTROLLER_controller.go", data)) {
			data.Resource.Controller, data.Image = false, Image{}
		}
		if data.Resource.API || data.Resource.Controller {
			there = append(there, data)
		}
	}
	return renderAll(tree, there, webhooks)
}

func renderAll(tree *worktree.Tree, apis []Data, webhooks []Webhooks) (*rendering, error) {
	r := &rendering{files: map[string][][]byte{}, extended: map[string][][]byte{}, inserts: map[string]map[string]map[string]bool{}}
	var known Paths
	for _, data := range apis {
		if data.Project.Paths == (Paths{}) {
			data.Project.Paths = known
		}
		if err := data.Project.FindPaths(tree); err != nil {
			return nil, err
		}
		known = data.Project.Paths
		files, inserts, err := renderAPI(tree, data)
		if err != nil {
			return nil, err
		}
		r.add(files, inserts)
	}
	for _, w := range webhooks {
		w.Project.Paths = known
		if err := r.addWebhooks(tree, w); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *rendering) add(files map[string][]byte, inserts map[string]map[string]string) {
	for name, content := range files {
		r.files[name] = append(r.files[name], content)
	}
	for name, blocks := range inserts {
		if r.inserts[name] == nil {
			r.inserts[name] = map[string]map[string]bool{}
		}
		for marker, text := range blocks {
			if r.inserts[name][marker] == nil {
				r.inserts[name][marker] = map[string]bool{}
			}
			r.inserts[name][marker][text] = true
		}
	}
}

// deleter works out what a deletion does, before any of it is done.
type deleter struct {
	tree           *worktree.Tree
	going, staying *rendering
	// peers reports that another tool made the project, which writes the lists of CRDs and samples with the first API.
	peers        bool
	edited, gone []string
	kept         []string
	rest         map[string][]byte // what is left of files that stay
}

// DeleteReport says what Delete did beyond the changes of the tree.
type DeleteReport struct {
	// Lost are the places that a person had edited and that Force deleted.
	Lost []string
	// Kept is what create webhook wrote and something else uses now.
	Kept []string
	// Left are places about webhooks that go which another tool wrote.
	Left []string
}

// Delete takes away what CreateAPI and CreateWebhook wrote: whole files, declarations, and texts at markers.
// What a person has edited is an *EditedError and stays, unless Force is set.
func Delete(tree *worktree.Tree, d Deletion) (*DeleteReport, error) {
	var err error
	x := deleter{tree: tree, rest: map[string][]byte{}}
	if x.going, err = renderAll(tree, d.Going, d.GoingWebhooks); err != nil {
		return nil, err
	}
	for _, w := range d.GoingWebhooks {
		if err := besideTypes(tree, w.Data); err != nil {
			return nil, err
		}
	}
	if x.staying, err = renderStaying(tree, d.Staying, d.StayingWebhooks); err != nil {
		return nil, err
	}
	if err := shareSuites(tree, x.going, x.staying); err != nil {
		return nil, err
	}
	if content, err := tree.ReadFile(overlay); err == nil {
		for line := range strings.Lines(string(content)) {
			x.peers = x.peers || textdiff.Hash(strings.TrimSpace(line)) == peersLine
		}
	}
	steps := []func() error{x.files, x.declarations, x.texts}
	if len(d.GoingWebhooks) > 0 {
		steps = append([]func() error{func() error { return x.configuration(d.GoingWebhooks, d.StayingWebhooks) }}, steps...)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	slices.Sort(x.edited)
	x.edited = slices.Compact(x.edited)
	if len(x.edited) > 0 && !d.Force {
		return nil, &EditedError{Places: x.edited}
	}
	for name, content := range x.rest {
		tree.WriteFile(name, content, worktree.FileMode)
	}
	for _, name := range x.gone {
		tree.Remove(name)
	}
	if slices.Contains(x.gone, "config/crd/kustomization.yaml") {
		disableCRDs(tree)
	}
	if len(d.GoingWebhooks) > 0 {
		if err := dropCopy(tree); err != nil {
			return nil, err
		}
	}
	return &DeleteReport{Lost: x.edited, Kept: x.kept, Left: leftovers(tree, d)}, nil
}

// read returns the content of a file, or not ok where there is none any more.
func (x *deleter) read(name string) (content []byte, ok bool, err error) {
	if !x.tree.Exists(name) || slices.Contains(x.gone, name) {
		return nil, false, nil
	}
	if content, err = x.tree.ReadFile(name); err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", name, worktree.Cause(err))
	}
	return content, true, nil
}

// files takes whole files away.
func (x *deleter) files() error {
	for _, name := range slices.Sorted(maps.Keys(x.going.files)) {
		if x.staying.files[name] != nil || initialFile(name) && !x.peers {
			continue
		}
		content, ok, err := x.read(name)
		if err != nil {
			return err
		}
		if !ok || path.Base(name) == "groupversion_info.go" && x.othersIn(name) {
			continue // the person's own types need it
		}
		same := scaffolded(name, content, x.going)
		if initialFile(name) && !same {
			continue
		}
		if !same {
			x.edited = append(x.edited, name)
		}
		x.gone = append(x.gone, name)
	}
	return nil
}

// texts takes texts at markers out of files that stay.
func (x *deleter) texts() error {
	for _, name := range slices.Sorted(maps.Keys(x.going.inserts)) {
		content, ok, err := x.read(name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		rest, changed, err := uninsert(content, name, x.going.inserts[name], x.staying.inserts[name])
		if err != nil {
			return &ContentError{err}
		}
		if name == managerFile && x.going.inserts[name]["env"] != nil {
			rest = WithoutEmptyEnv(rest)
		}
		x.edited = append(x.edited, changed...)
		x.rest[name] = rest
	}
	return nil
}

// peersLine is the hash of the comment on webhooks in config/default/kustomization.yaml of kubebuilder and operator-sdk.
// PROJECT does not distinguish their projects from those of this program.
const peersLine = 0x2342097ba8b95f28

// initialFile tells that init writes a file, so that it stays with the last API gone.
func initialFile(name string) bool {
	switch name {
	case "config/crd/kustomization.yaml", "config/crd/kustomizeconfig.yaml", "config/samples/kustomization.yaml":
		return true
	}
	return false
}

// othersIn tells whether a folder holds Go files that nobody deletes.
func (x *deleter) othersIn(name string) bool {
	names, err := x.tree.Walk(path.Dir(name), func(string) bool { return true })
	if err != nil {
		return true
	}
	return slices.ContainsFunc(names, func(other string) bool {
		return path.Ext(other) == ".go" && x.going.files[other] == nil && x.going.extended[other] == nil &&
			!strings.HasPrefix(path.Base(other), "zz_generated.")
	})
}

// crdsRequired is the one line of a suite that depends on which controller came first.
var crdsRequired = regexp.MustCompile(`ErrorIfCRDPathMissing:\s*\w+,`)

// scaffolded tells whether a file is as a create command wrote it.
func scaffolded(name string, content []byte, r *rendering) bool {
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	blocks := r.inserts[name]
	if texts, ok := r.suites[path.Base(name)]; ok {
		blocks = texts
	}
	if blocks != nil {
		rest, edited, err := uninsert(content, name, blocks, nil)
		if err != nil || len(edited) > 0 {
			return false
		}
		content = rest
	}
	if strings.HasSuffix(name, "_types.go") {
		content = []byte(strings.Replace(string(content), "// "+storageMarker+"\n", "", 1))
	}
	suite := path.Base(name) == "suite_test.go"
	if suite {
		content = crdsRequired.ReplaceAll(content, nil)
	}
	for _, want := range r.files[name] {
		if suite {
			want = crdsRequired.ReplaceAll(want, nil)
		}
		if bytes.Equal(content, want) {
			return true
		}
	}
	return false
}

// InitialFile renders one of the files that init writes.
func InitialFile(name string, data Data) ([]byte, error) {
	rendered, err := Render("init", data)
	if err != nil {
		return nil, err
	}
	return rendered.Files[name], nil
}
