package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// CreateAPI writes the types, manifests and controller of data.Resource into the tree: whole files first, then the inserts at
// markers, then go.mod. With force, it overwrites files of an earlier create; otherwise, existing files are a *ConflictError.
func CreateAPI(tree *worktree.Tree, data Data, force bool) (*Report, error) {
	if err := CheckModule(tree, data.Project.Repo); err != nil {
		return nil, err
	}
	if err := checkRuntime(tree, data); err != nil {
		return nil, err
	}
	if err := data.Project.FindPaths(tree); err != nil {
		return nil, err
	}
	keepName(tree, &data)
	files, inserts, err := renderAPI(tree, data)
	if err != nil {
		return nil, err
	}
	if data.Resource.API {
		keepStorage(tree, files, data)
	}
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return !tree.Exists(name) && isUnreferenced(tree, name) })
	report, err := writeFiles(tree, files, force, "pass --force to overwrite what is listed with a new scaffold, or move it away")
	if err != nil {
		return nil, err
	}
	if err := insertAll(tree, inserts); err != nil {
		return nil, err
	}
	if data.Resource.API {
		enableCRDs(tree)
		if data.Resource.SSA {
			if err := enableApply(tree, data); err != nil {
				return nil, err
			}
		}
		if err := markStorage(tree, data); err != nil {
			return nil, err
		}
	}
	report.ToEdit = toEdit(files, data)
	return report, nil
}

// toEdit returns the paths of the types, the controller and the sample, if the user is to complete them.
func toEdit(files map[string][]byte, data Data) []string {
	var names []string
	for _, name := range []string{outputPath(apiPath+"/KIND_types.go", data), outputPath(controllerPath, data)} {
		if files[name] != nil && data.Image.Ref == "" {
			names = append(names, name)
		}
	}
	if sample := path.Join(project.SamplesDir, data.Resource.SampleFile()); bytes.HasSuffix(files[sample], []byte(emptySpec)) {
		names = append(names, sample)
	}
	return names
}

// controllerName matches the name of a controller in logs and metrics.
var controllerName = lazyregexp.New(`\bNamed\("([^"]+)"\)`)

// keepName sets the name of an existing controller in data. The default is another one after edit --multigroup.
func keepName(tree *worktree.Tree, data *Data) {
	content, err := tree.ReadFile(outputPath(controllerPath, *data))
	if err != nil {
		return
	}
	if found := controllerName.FindSubmatch(content); found != nil {
		data.Resource.RuntimeName = string(found[1])
	}
}

// renderAPI renders the files and, by file and marker, the inserts of create api.
func renderAPI(tree *worktree.Tree, data Data) (map[string][]byte, map[string]map[string]string, error) {
	if err := adapt(tree, &data); err != nil {
		return nil, nil, err
	}
	events := apiEvents(data)
	if data.Resource.API {
		events = append([]string{sharedEvent}, events...)
	}
	files, inserts := map[string][]byte{}, map[string]map[string]string{}
	for _, event := range events {
		rendered, err := Render(event, data)
		if err != nil {
			return nil, nil, err
		}
		if event == apiEvent && data.Resource.From != (Source{}) {
			if err := copyVersion(tree, rendered.Files, data); err != nil {
				return nil, nil, err
			}
			// A controller without types sets no conditions.
			data.Resource.API = hasConditions(rendered.Files[outputPath(apiPath+"/KIND_types.go", data)], data.Resource.Kind)
		}
		maps.Copy(files, rendered.Files)
		for name, blocks := range rendered.Inserts {
			if inserts[name] == nil {
				inserts[name] = map[string]string{}
			}
			for marker, text := range blocks {
				inserts[name][marker] += text
			}
		}
	}
	if data.Project.facts().Older {
		if err := fitRootLayout(tree, files, inserts); err != nil {
			return nil, nil, err
		}
	}
	return files, inserts, nil
}

// apiEvent contains the files and inserts of types, or of a kind with a chart.
const apiEvent = "api"

// apiEvents returns the events of create api without sharedEvent.
func apiEvents(data Data) []string {
	var events []string
	if data.Resource.API {
		events = append(events, apiEvent)
	}
	if data.hasMixedKind() {
		events = append(events, chartsEvent)
	}
	if data.Resource.Controller {
		events = append(events, "controller")
	}
	if data.Image.Ref != "" {
		for _, event := range slices.Clone(events) {
			events = append(events, event+"-image")
		}
	}
	return events
}

// APIFiles renders the whole files of create api by their paths in the project.
func APIFiles(tree *worktree.Tree, data Data) (map[string][]byte, error) {
	files, _, err := renderAPI(tree, data)
	return files, err
}

// insertAll applies inserts to their files. The error names all missing files and markers.
func insertAll(tree *worktree.Tree, inserts map[string]map[string]string) error {
	var failures []error
	for _, name := range slices.Sorted(maps.Keys(inserts)) {
		if err := tree.Blocked(name); err != nil {
			failures = append(failures, err)
			continue
		}
		content, err := tree.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			failures = append(failures, &MissingFileError{Path: name, Markers: slices.Sorted(maps.Keys(inserts[name]))})
			continue
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("reading %s: %w", name, diag.Cause(err)))
			continue
		}
		changed, err := Insert(content, name, inserts[name])
		if err != nil {
			failures = append(failures, err)
			continue
		}
		tree.WriteFile(name, changed, worktree.FileMode)
	}
	return errors.Join(worktree.OnePerCause(failures)...)
}

// findingf returns the error of a file of the project whose content a command cannot extend.
func findingf(name, format string, args ...any) error {
	return diag.Finding{Position: diag.Position{File: name}, Problem: fmt.Sprintf(format, args...)}
}

// MissingFileError reports a missing file that a command must extend.
type MissingFileError struct {
	Path    string
	Markers []string
}

func (e *MissingFileError) Error() string {
	return fmt.Sprintf("%s is missing: the command extends it at its markers (%s); restore the file, for example from version control",
		e.Path, strings.Join(e.Markers, ", "))
}
