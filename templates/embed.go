// Package templates holds everything that Operon writes, as real files a reader can browse.
//
// The directory is the event and the path below it is the output:
// go/init/config/manager/manager.yaml.tmpl becomes config/manager/manager.yaml when a project is
// initialized. X.insert.tmpl holds the text that goes into an existing file X, one
// {{define "marker"}} block per +kubebuilder:scaffold:marker of X. Package scaffold renders the
// directory go, package controlplane the directory controlplane, package bundle the directory bundle, package
// catalog the directory catalog, package olm the directory olm: the objects of OLM, in the order of
// their files, and the directory run: the objects that install an operator with OLM.
package templates

import (
	"embed"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// FS is the tree of templates. Every file ends in .tmpl: a file named go.mod would make its directory
// a module of its own, which go:embed leaves out.
//
//go:embed all:bundle all:catalog all:controlplane all:go all:olm all:run
var FS embed.FS

// Funcs returns the functions of YAML templates: {{ yaml .X }} is YAML(X).
func Funcs() template.FuncMap { return template.FuncMap{"yaml": YAML} }

// YAML returns a string of one line as a YAML scalar, quoted only where YAML 1.1 or 1.2 would read it as anything
// but that string: 2026, 1.6, null, on. Part of a longer scalar, such as a name before -system, needs no quotes.
func YAML(s string) string {
	text, _ := yaml.Marshal(s) // every string can be encoded
	return strings.TrimSuffix(string(text), "\n")
}
