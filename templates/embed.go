// Package templates embeds all files that Operon generates, in FS.
//
// A directory names the event and the path below it the output: common/init/config/manager/manager.yaml.tmpl becomes
// config/manager/manager.yaml when a project is initialized. common contains the files that projects of all layouts have, go,
// helm and ansible the templates of one layout. Where a file in common differs between layouts, it has a {{block "name" .}} with the text of
// projects without Go code, which a layout replaces in the file of the same path in its directory blocks. X.insert.tmpl contains the text that is inserted into an existing file X, one {{define "marker"}}
// block per +kubebuilder:scaffold:marker of X.
//
// The directories belong to packages: common, go, helm and ansible to scaffold, behavior to behavior/report, bundle to bundle, catalog to
// catalog, chart (files of the chart that installs an operator, with the delimiters [[ and ]]) to operatorchart, controlplane to controlplane,
// grafana to grafana, rolebinding to rolebinding, olm (the objects of OLM, in the order of their files) and run (the objects that install an
// operator with OLM) to olm, site to docsite.
package templates

import (
	"bytes"
	"embed"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// FS is the tree of templates. The names of all files end in .tmpl, as go:embed leaves out directories that contain a file
// named go.mod.
//
//go:embed all:ansible all:behavior all:bundle all:catalog all:chart all:common all:controlplane all:go all:grafana all:helm all:olm all:rolebinding all:run all:site
var FS embed.FS

// Execute executes the template in a file. The result of an unknown key of a map is an error.
func Execute(name string, data any) ([]byte, error) {
	text, err := FS.ReadFile(name)
	if err != nil {
		return nil, err
	}
	// A checkout on Windows may add carriage returns to the templates.
	t, err := template.New(name).Option("missingkey=error").Funcs(Funcs()).Parse(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

// Funcs returns the functions of YAML templates: {{ yaml .X }} is YAML(X).
func Funcs() template.FuncMap { return template.FuncMap{"yaml": YAML} }

// YAML returns a string of one line as a YAML scalar. It quotes strings that YAML 1.1 or 1.2 parses as another type, such
// as 2026, 1.6, null and on. A part of a longer scalar, such as a name before -system, needs no quotes.
func YAML(s string) string {
	text, _ := yaml.Marshal(s) // every string can be encoded
	return strings.TrimSuffix(string(text), "\n")
}
