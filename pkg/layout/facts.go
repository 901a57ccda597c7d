// Package layout describes the layouts of projects: Go, Helm and Ansible. A layout is a value of [Facts], which contains everything
// that commands, messages and templates need to know about it; what a layout does with the kinds of a project is the interface
// action.Kinds.
//
// A command asks for the layout of its project once, as the method Facts of the PROJECT file, and never compares names. To add a layout,
// write its facts, its directory of templates and its action.Kinds, and list them in [All] and in action/layouts.
package layout

import (
	"io/fs"
	"slices"
	"strings"
)

// Facts describe a layout.
type Facts struct {
	// Name is the layout in messages: Go, Helm or Ansible.
	Name string
	// Keys are the values of --plugins that select the layout. The first one is used in messages: helm/v1. The second one is the key in
	// PROJECT: helm.sdk.operatorframework.io/v1.
	Keys []string
	// Templates is the directory of the templates of the layout, in TemplateFS. If TemplateFS is nil, it is the one of package templates.
	Templates  string
	TemplateFS fs.FS
	// InitEvents are the events of templates that init writes for this layout only.
	InitEvents []string
	// MainFile and ControllerDir are where projects with Go code have their program and their controllers.
	MainFile, ControllerDir string
	// Older means that upgrade moves projects to the current layout of the language.
	Older bool
	// Runtime is the program that manages the kinds of projects without Go code, or nil for projects with their own code.
	Runtime *Runtime
	// Charts means that the objects of all kinds are releases of Helm charts.
	Charts bool
	// Tool is the program other than Operon that scaffolds such projects, if PROJECT does not name one.
	Tool string
	// Fingerprints names the fingerprints of older scaffolds.
	Fingerprints string
	// Check is the command that checks a changed project, AfterRename the one after a rename, where %s is the program.
	Check, AfterRename string
	// Unsupported is the reason why commands for Go projects refuse the layout.
	Unsupported string
	// NoWebhooks, NoModule, NoCharts and NoRescaffold are the reasons why the layout has no webhooks, no Go module, no kinds with charts,
	// and is not scaffolded again; empty if it has them.
	NoWebhooks, NoModule, NoCharts, NoRescaffold string
	// FirstKind are the flags with which init adds the first kind; nil if init adds none.
	FirstKind []string
	// Refused are the flags that do not apply.
	Refused []Refusal
}

// A Runtime describes the program that manages the kinds of a project without Go code.
type Runtime struct {
	// Command is the command of operon-runtime that runs the kinds: helm-operator.
	Command string
	// Flags are the flags of the command that a run on this machine takes from the manifests.
	Flags []string
	// Ansible means that the program runs Ansible, which has to be on the machine.
	Ansible bool
	// Repository is the repository of the base image of the project's image, and Argument the argument of the Dockerfile with the image.
	Repository, Argument string
	// SDKImage is the repository of the images of operator-sdk's runtime, and Program the path of the runtime in all of them.
	SDKImage, Program string
	// User and Home are the user in the image and its home directory, which contains Files of the project, watches.yaml among them.
	User, Home string
	Files      []string
	// Base is the base image of images that image build builds, or empty for none.
	Base string
	// Packages means that images of operator-sdk's runtime may have packages that other steps of a Dockerfile need.
	Packages bool
	// Sources are the files that the permissions of the manager are derived from, in messages: the charts.
	Sources string
}

// A Refusal is a group of flags that do not apply to a layout.
type Refusal struct {
	// Commands are the commands that refuse the flags; nil means all commands that have them, except for image build.
	Commands []string
	// Problem is the first part of the message: is only valid in Go projects. Reasons are the second parts by flag.
	Problem string
	Reasons map[string]string
}

// applies reports whether the flags are refused by a command.
func (r Refusal) applies(command string) bool {
	if r.Commands == nil {
		return slices.Contains([]string{initCommand, createAPI, "edit", "delete api"}, command)
	}
	return slices.Contains(r.Commands, command)
}

// Refusals returns the flags that a command, such as "create api", does not have for the layout.
func (f *Facts) Refusals(command string) []Refusal {
	return slices.DeleteFunc(slices.Clone(f.Refused), func(r Refusal) bool { return !r.applies(command) })
}

// Refuses reports whether a command does not have a flag for the layout.
func (f *Facts) Refuses(command, flag string) bool {
	return slices.ContainsFunc(f.Refused, func(r Refusal) bool {
		_, found := r.Reasons[flag]
		return found && r.applies(command)
	})
}

// Key returns the key of the layout in PROJECT.
func (f *Facts) Key() string { return f.Keys[1] }

// Short returns the key of the layout in messages.
func (f *Facts) Short() string { return f.Keys[0] }

// Family returns the part of the layout's keys before the version: helm.
func (f *Facts) Family() string {
	name, _, _ := strings.Cut(f.Short(), "/")
	return name
}

// Variable returns the variable of the Makefile with the command: HELM_OPERATOR.
func (r *Runtime) Variable() string { return strings.ToUpper(strings.ReplaceAll(r.Command, "-", "_")) }

// Image returns the base image of a release of Operon.
func (r *Runtime) Image(release string) string { return r.Repository + ":" + release }

// Has reports whether a chain of plugins contains a layout, or its base plugin.
func Has(chain []string, key string) bool {
	return slices.Contains(chain, key) || slices.Contains(chain, "base."+key)
}

// All returns the layouts of new projects.
func All() []*Facts { return []*Facts{Go(), Helm(), Ansible()} }

// Of returns the layout of a chain of plugins: one of All, of more, or an older one of Go. Other chains have the facts of Go, and
// their projects are refused when they are loaded.
func Of(chain []string, more ...*Facts) *Facts {
	for _, f := range slices.Concat(All(), more) {
		if Has(chain, f.Key()) {
			return f
		}
	}
	if Has(chain, KeyGoV3) {
		return goV3()
	}
	return Go()
}
