package scenario

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A numbered file or directory is a part of a step.
type numbered struct {
	path, number string
	verb         Verb
	isDir        bool
}

// numbered returns the steps of files with numbers. Those with the same number are one step, in which changes come first.
func (p *parser) numbered() (steps []Step) {
	entries, err := fs.ReadDir(p.project, p.dir)
	if err != nil {
		p.unreadable(diag.Position{File: p.dir}, err)
		return nil
	}
	var files []numbered
	for _, entry := range entries {
		if file, ok := p.classify(entry); ok {
			files = append(files, file)
		}
	}
	slices.SortStableFunc(files, func(a, b numbered) int {
		return cmp.Or(strings.Compare(a.number, b.number), cmp.Compare(a.verb.rank(), b.verb.rank()))
	})
	for i, file := range files {
		if i == 0 || files[i-1].number != file.number {
			steps = append(steps, Step{Name: stem(file.path)})
		}
		last := &steps[len(steps)-1]
		last.Try = append(last.Try, p.numberedOperations(file)...)
	}
	return steps
}

// rank orders the operations of a step.
func (v Verb) rank() int { return slices.Index([]Verb{Apply, Patch, Delete, Wait, Assert, Error}, v) }

// classify returns what a name such as 01-assert.yaml means. Names without a number are files that others refer to.
func (p *parser) classify(entry fs.DirEntry) (numbered, bool) {
	name := entry.Name()
	if len(name) < 4 || !isDigit(name[0]) || !isDigit(name[1]) || name[2] != '-' || !entry.IsDir() && !isYAML(name) {
		return numbered{}, false
	}
	n := numbered{path: path.Join(p.dir, name), number: name[:2], verb: Apply, isDir: entry.IsDir()}
	word, _, _ := strings.Cut(stem(name)[3:], "-")
	switch word {
	case "assert", "patch", "delete", "wait":
		n.verb = Verb(word)
	case "error", "errors":
		n.verb = Error
	}
	return n, true
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isYAML(name string) bool { return path.Ext(name) == ".yaml" || path.Ext(name) == ".yml" }

// stem returns the name of a file without its extension.
func stem(file string) string {
	name := path.Base(file)
	if isYAML(name) {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return name
}

// numberedOperations returns the operation of a file, or of the files of a directory.
func (p *parser) numberedOperations(n numbered) []Operation {
	files := []string{n.path}
	if n.isDir {
		files = p.glob(n.path+"/*.y*ml", diag.Position{File: n.path})
	}
	if n.verb == Wait {
		return p.waits(files)
	}
	o := Operation{Position: diag.Position{File: n.path, Line: 1}, Verb: n.verb, Timeout: p.timeouts[n.verb]}
	for _, file := range files {
		o.Objects = append(o.Objects, p.objectsOf(file, n.verb)...)
	}
	return []Operation{o}
}

// waits returns the operations of files with the fields of wait.
func (p *parser) waits(files []string) (operations []Operation) {
	for _, file := range files {
		p.inFile(file, func(node *yaml.Node) {
			o := Operation{Position: p.at(node), Verb: Wait, Timeout: p.timeouts[Wait]}
			p.wait(node, &o)
			operations = append(operations, o)
		})
	}
	return operations
}
