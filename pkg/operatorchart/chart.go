package operatorchart

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// Options describe an operator.
type Options struct {
	// Name is the name of the chart, a DNS-1123 label.
	Name string
	// Objects are what the kustomization of the operator builds, and Offered further objects that a value of the chart adds.
	Objects, Offered []manifest.Object
	// Prefix is the prefix of the names of the kustomization's objects, with its hyphen, and Namespace the operator's. Make infers empty ones.
	Prefix, Namespace string
}

// Files are the files of a chart by slash-separated path.
type Files = map[string][]byte

// A Chart is the chart of an operator, or of its CRDs.
type Chart struct {
	Files
	settings *settings
}

// Make returns the chart of an operator. It is a finding if the objects have no Deployment of a manager.
func Make(o Options) (*Chart, error) {
	s, files, err := makeTemplates(o)
	if err != nil {
		return nil, err
	}
	return newChart(s, files, staticFiles())
}

// crdDir is the directory of the CRDs in a chart.
const crdDir = "templates/crd/"

// MakeSeparate returns the chart of an operator without its CRDs, and the chart of the CRDs. It is a finding if there are none.
func MakeSeparate(o Options) (operator, crds *Chart, err error) {
	s, files, err := makeTemplates(o)
	if err != nil {
		return nil, nil, err
	}
	definitions := Files{}
	for name, content := range files {
		if strings.HasPrefix(name, crdDir) {
			definitions[name] = content
			delete(files, name)
		}
	}
	if len(definitions) == 0 {
		return nil, nil, diag.Findings{{Problem: "the manifests have no CRDs for a chart of their own"}}
	}
	own := *s
	own.OnlyCRDs = true
	if crds, err = newChart(&own, definitions, []string{valuesFile, ".helmignore", chartFile, helpersFile}); err != nil {
		return nil, nil, err
	}
	s.HasCRDs, s.Separate = false, true
	operator, err = newChart(s, files, staticFiles())
	return operator, crds, err
}

// newChart returns a chart with the templates of objects, and the files that aren't made from an object.
func newChart(s *settings, templates Files, static []string) (*Chart, error) {
	c := &Chart{templates, s}
	var err error
	for _, name := range static {
		if c.Files[name], err = c.execute(name); err != nil {
			return nil, err
		}
	}
	return c, c.Document(c.Files[valuesFile])
}

// execute executes the template of a file. The chart of the CRDs describes itself in files of its own.
func (c *Chart) execute(name string) ([]byte, error) {
	if describes := name == valuesFile || name == chartFile || name == readmeFile; describes && c.settings.OnlyCRDs {
		return execute("crds/"+name, c.settings)
	}
	return execute(name, c.settings)
}

// makeTemplates returns the templates of all objects.
func makeTemplates(o Options) (*settings, Files, error) {
	p, err := newParts(o)
	if err != nil {
		return nil, nil, err
	}
	files := Files{}
	for _, obj := range p.all() {
		part, ok := p.part(obj)
		if !ok {
			continue
		}
		name := part.file()
		if files[name] != nil {
			name = strings.TrimSuffix(name, ".yaml") + "-" + strings.ToLower(obj.Kind()) + ".yaml"
		}
		for i := 2; files[name] != nil; i++ {
			name = path.Join(path.Dir(name), fmt.Sprintf("%s-%d.yaml", strings.ToLower(obj.Kind()), i))
		}
		files[name] = part.text()
	}
	return p.settings, files, nil
}

// Release returns the name and the namespace of the release with which the chart of an operator installs the objects that it is made from.
func (c *Chart) Release() (name, namespace string) {
	return c.settings.Base, cmp.Or(c.settings.Namespace, c.settings.Base)
}

// Document derives the schema and the README of the chart from the values that it has after a merge.
func (c *Chart) Document(values []byte) (err error) {
	if c.settings.Rows, c.Files[schemaFile], err = readValues(values); err != nil {
		return err
	}
	c.Files[readmeFile], err = c.execute(readmeFile)
	return err
}

// text returns the template of an object.
func (p part) text() []byte {
	var w writer
	if p.given == "" {
		w.mapping(p.fields, 0)
		return []byte(w.String())
	}
	w.line(0, "{{- if ", p.given, " }}")
	w.mapping(p.fields, 0)
	w.line(0, "{{- end }}")
	return []byte(w.String())
}

// errNoManager is the finding about objects without a manager.
func errNoManager() error {
	return diag.Findings{{Problem: "the manifests have no Deployment of a manager: one with the label control-plane: controller-manager, " +
		"with a container named manager, or the only one"}}
}
