package source

import (
	"fmt"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// A node is a chart with the charts in its directory charts/.
type node struct {
	// files are the files of the chart itself.
	files helmchart.Files
	// name and version come from Chart.yaml.
	name, version string
	// children are the charts in charts/, by directory.
	children map[string]*node
}

// newNode returns the tree of a chart. Archives in charts/ are unpacked into directories.
func newNode(files helmchart.Files, b *budget, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("more than %d nested charts", maxDepth)
	}
	if err := checkChartFile(files); err != nil {
		return nil, err
	}
	n := &node{files: helmchart.Files{}, children: map[string]*node{}}
	n.name, n.version = headOf(files)
	directories, archives := map[string]helmchart.Files{}, []string{}
	for _, name := range sortedKeys(files) {
		rest, ok := strings.CutPrefix(name, chartsPath)
		dir, inside, nested := strings.Cut(rest, "/")
		switch {
		case !ok || isHidden(dir):
			n.files[name] = files[name]
		case nested:
			if directories[dir] == nil {
				directories[dir] = helmchart.Files{}
			}
			directories[dir][inside] = files[name]
		case path.Ext(dir) == ".tgz":
			archives = append(archives, dir)
		case path.Ext(dir) == ".prov": // of an archive
		default:
			n.files[name] = files[name]
		}
	}
	for _, dir := range sortedKeys(directories) {
		if _, ok := directories[dir][chartFile]; !ok {
			for inside, data := range directories[dir] {
				n.files[chartsPath+dir+"/"+inside] = data
			}
			continue
		}
		child, err := newNode(directories[dir], b, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s%s/%w", chartsPath, dir, err)
		}
		n.children[dir] = child
	}
	for _, name := range archives {
		unpacked, err := readArchive(files[chartsPath+name], b)
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", chartsPath, name, err)
		}
		child, err := newNode(unpacked, b, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", chartsPath, name, err)
		}
		n.add(child)
	}
	return n, nil
}

// add adds a chart to charts/. Its directory has its name, with the version where another version is there.
func (n *node) add(child *node) {
	dir := child.name
	if other, ok := n.children[dir]; ok && other.version != child.version {
		dir += "-" + child.version
	}
	n.children[dir] = child
}

func (n *node) flatten() helmchart.Files {
	files := helmchart.Files{}
	for name, data := range n.files {
		files[name] = data
	}
	for dir, child := range n.children {
		for name, data := range child.flatten() {
			files[chartsPath+dir+"/"+name] = data
		}
	}
	return files
}
