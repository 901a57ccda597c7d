package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"sigs.k8s.io/kubebuilder/v3/pkg/machinery"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/templates"
)

const (
	// commonDir contains the templates of all layouts.
	commonDir      = "common"
	templateSuffix = ".tmpl"
	insertSuffix   = ".insert.tmpl"
)

// Rendered is the output of the templates of an event.
type Rendered struct {
	// Files maps output paths to whole files.
	Files map[string][]byte
	// Inserts maps output paths of existing files and markers to texts.
	Inserts map[string]map[string]string
}

// Render executes all templates of an event: the ones that all layouts share, in templates/common, and the ones of the
// layout. Go files are formatted. Errors name the template.
func Render(event string, data Data) (*Rendered, error) {
	return render(event, data, func(string) bool { return true })
}

// RenderFile executes only the template for an output path. It returns nil if the event has none.
func RenderFile(event, name string, data Data) ([]byte, error) {
	rendered, err := render(event, data, func(path string) bool { return path == name })
	if err != nil {
		return nil, err
	}
	return rendered.Files[name], nil
}

// templateDirs returns the directories of templates for an event.
func (d Data) templateDirs(event string) []string {
	if d.hasMixedKind() && event == apiEvent {
		return []string{commonDir} // Go projects' templates are for types
	}
	return []string{commonDir, d.Project.facts().Templates}
}

// layoutTemplates returns the file system with the directory of the layout.
func (d Data) layoutTemplates() fs.FS {
	if own := d.Project.facts().TemplateFS; own != nil {
		return own
	}
	return templates.FS
}

// templatesIn returns the file system with a directory of templates.
func (d Data) templatesIn(dir string) fs.FS {
	if dir == commonDir {
		return templates.FS
	}
	return d.layoutTemplates()
}

// addBlocks replaces blocks of a template in commonDir by the layout's blocks, whose files have the same path in its directory blocks.
func (d Data) addBlocks(tmpl *template.Template, p string) error {
	rest, ok := strings.CutPrefix(p, commonDir+"/")
	if !ok {
		return nil
	}
	text, err := fs.ReadFile(d.layoutTemplates(), path.Join(d.Project.facts().Templates, "blocks", rest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = tmpl.Parse(strings.ReplaceAll(string(text), "\r\n", "\n"))
	}
	return err
}

// walkTemplates calls visit with each template of an event: its path, and its path below the directory of the event.
func walkTemplates(event string, data Data, visit func(path, name string) error) error {
	found := false
	for _, dir := range data.templateDirs(event) {
		root := dir + "/" + event
		fsys := data.templatesIn(dir)
		if _, err := fs.Stat(fsys, root); err != nil {
			continue
		}
		found = true
		err := fs.WalkDir(fsys, root, func(p string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			return visit(p, strings.TrimPrefix(p, root+"/"))
		})
		if err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("templates %s: %w", event, fs.ErrNotExist)
	}
	return nil
}

// render executes the templates of an event whose output paths are wanted.
func render(event string, data Data, wanted func(path string) bool) (*Rendered, error) {
	out := &Rendered{Files: map[string][]byte{}, Inserts: map[string]map[string]string{}}
	err := walkTemplates(event, data, func(p, name string) error {
		if !wanted(outputPath(strings.TrimSuffix(name, templateSuffix), data)) {
			return nil
		}
		return out.execute(p, name, data)
	})
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", event, err)
	}
	return out, nil
}

// execute adds the output of a template.
func (out *Rendered) execute(p, name string, data Data) error {
	dir, _, _ := strings.Cut(p, "/")
	text, err := fs.ReadFile(data.templatesIn(dir), p)
	if err != nil {
		return err
	}
	// Git may have checked out the templates with CRLF on Windows.
	tmpl, err := template.New(p).Option("missingkey=error").Funcs(machinery.DefaultFuncMap()).Funcs(templates.Funcs()).
		Parse(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		return err
	}
	if err := data.addBlocks(tmpl, p); err != nil {
		return err
	}
	if insertInto, ok := strings.CutSuffix(name, insertSuffix); ok {
		blocks, err := renderBlocks(tmpl, data)
		if err != nil {
			return err
		}
		out.Inserts[outputPath(insertInto, data)] = blocks
		return nil
	}
	name, ok := strings.CutSuffix(name, templateSuffix)
	if !ok {
		return fmt.Errorf("template %s does not end in %s", p, templateSuffix)
	}
	var b bytes.Buffer
	if err := tmpl.Execute(&b, data); err != nil {
		return err
	}
	content := b.Bytes()
	name = outputPath(name, data)
	if strings.HasSuffix(name, ".go") {
		if content, err = format.Source(content); err != nil {
			return fmt.Errorf("template %s: %w", p, err)
		}
	}
	out.Files[name] = content
	return nil
}

// renderBlocks executes the {{define "marker"}} blocks of an insert template, and drops empty results.
func renderBlocks(tmpl *template.Template, data Data) (map[string]string, error) {
	blocks := map[string]string{}
	for _, block := range tmpl.Templates() {
		if block.Name() == tmpl.Name() {
			continue
		}
		var b bytes.Buffer
		if err := block.Execute(&b, data); err != nil {
			return nil, err
		}
		if strings.TrimSpace(b.String()) != "" {
			blocks[block.Name()] = strings.Trim(b.String(), "\n") + "\n"
		}
	}
	return blocks, nil
}

// Paths of templates.
const (
	apiPath        = project.APIDir + "/GROUP/VERSION"
	spokePath      = project.APIDir + "/GROUP/SPOKE"
	controllerPath = project.ControllerDir + "/GROUP/CONTROLLER_controller.go"
	webhookPath    = project.WebhookDir + "/GROUP/VERSION/KIND_webhook.go"
)

// outputPath replaces GROUP, VERSION, SPOKE, KIND, STEM, PLURAL and NAME in the path of a template. A directory GROUP
// exists in multigroup projects only.
func outputPath(name string, data Data) string {
	name = ownPath(name, data)
	segments := strings.Split(name, "/")
	var kept []string
	for i, s := range segments {
		if s == "GROUP" && i < len(segments)-1 && !data.Project.MultiGroup {
			continue
		}
		kept = append(kept, pathReplacer(data).Replace(s))
	}
	return path.Join(kept...)
}

// ownPath returns the path in the project of a file or directory of the current layout.
func ownPath(name string, data Data) string {
	if rest, ok := strings.CutPrefix(name, project.ControllerDir+"/"); ok {
		return data.Project.ControllerDir() + "/" + rest
	}
	if name == project.MainFile {
		return data.Project.MainFile()
	}
	for _, own := range []struct{ dir, pkg string }{
		{apiPath, data.Resource.Package}, {spokePath, data.Spoke.Package},
	} {
		rest, ok := strings.CutPrefix(name, own.dir)
		if dir, local := strings.CutPrefix(own.pkg, data.Project.Repo+"/"); ok && local {
			return dir + rest
		}
	}
	return name
}

func pathReplacer(data Data) *strings.Replacer {
	r := data.Resource
	kind := strings.ToLower(r.Kind)
	stem := kind
	if data.Project.MultiGroup && r.Group != "" {
		stem = r.Group + "_" + kind
	}
	controller := kind
	if r.ControllerName != "" {
		controller = strings.ReplaceAll(r.ControllerName, "-", "_")
	}
	named := r.Plural
	if data.Project.MultiGroup && r.Group != "" {
		named = r.Group + "_" + r.Plural
	}
	prefix := ""
	if r.Group != "" {
		prefix = r.Group + "_"
	}
	return strings.NewReplacer(
		"GROUP_", prefix,
		"GROUP", r.Group,
		"PLURAL", named,
		"SPOKE", data.Spoke.Version,
		"VERSION", r.Version,
		"KIND", kind,
		"STEM", stem,
		"CONTROLLER", controller,
		"NAME", data.Project.Name,
	)
}
