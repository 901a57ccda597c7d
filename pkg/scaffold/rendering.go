package scaffold

import (
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A rendering is the output of create commands.
type rendering struct {
	files map[string][][]byte // all possible contents of a file
	// extended holds Go files to which several commands add declarations.
	extended map[string][][]byte
	inserts  map[string]map[string]map[string]bool // file → marker → texts
	// suites holds the texts that a test suite may contain, including other groups' texts.
	suites map[string]map[string]map[string]bool // base name → marker → texts
}

// renderKept renders the output of the commands that are not undone, except for controllers and webhooks that the project has
// in another place, as projects of older tools do.
func renderKept(tree *worktree.Tree, apis []Data, webhooks []Webhooks) (*rendering, error) {
	var remaining []Data
	for _, data := range apis {
		if err := data.Project.FindPaths(tree); err != nil {
			return nil, err
		}
		if data.Resource.Controller && !tree.Exists(outputPath(controllerPath, data)) {
			data.Resource.Controller, data.Image = false, Image{}
		}
		if data.Resource.API || data.Resource.Controller {
			remaining = append(remaining, data)
		}
	}
	return renderAll(tree, remaining, webhooks)
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
