package operatorimage

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/ansibletool"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
)

const (
	// CollectionsOfBase is the value of --collections that selects the base image's collections.
	CollectionsOfBase = "base"
	// CollectionsOfProject is the default of --collections.
	CollectionsOfProject = "project"
)

// ansibleContent collects the files of the image of an Ansible project.
type ansibleContent struct {
	b    *Builder
	user image.User
	// home is the user's home directory, without a leading slash.
	home     string
	files    []image.File
	problems diag.Findings
	// names has the files, and the directories with a slash at the end.
	names map[string]bool
	// links are the links out of a directory that was added.
	links []image.File
}

// ansibleManager returns the content of the image of an Ansible project.
func (b *Builder) ansibleManager(runtime *layout.Runtime, o *Options) (Manager, error) {
	user := userOf(runtime)
	c := &ansibleContent{b: b, user: user, home: strings.TrimPrefix(user.Home, "/"), names: map[string]bool{}}
	c.add(user.HomeDir(), c.writable(".ansible"), c.writable(".ansible/tmp"))
	c.read(watches.FileName)
	for _, name := range []string{project.RolesDir, project.PlaybooksDir, ansibletool.RequirementsFile} {
		if c.exists(name) {
			c.read(name)
		}
	}
	var entries []watches.AnsibleWatch
	if len(c.problems) == 0 {
		var err error
		if entries, err = c.watches(); err != nil {
			return Manager{}, err
		}
	}
	switch {
	case o.Base == image.Scratch:
		c.problems = append(c.problems, diag.Finding{Field: "--base", Value: o.Base, Problem: "must be an image with Python, Ansible and ansible-runner"})
	case o.Base == "":
		o.Base = runtime.Base
	}
	added := o.Collections != CollectionsOfBase
	complete := added && c.readCollections()
	c.checkLinks()
	m := Manager{
		Name: "the roles and playbooks of " + watches.FileName, User: user,
		Recipe: image.Recipe{
			Entrypoint: []string{runtime.Program, "run", "--watches-file=./" + watches.FileName}, KeepInit: true,
			Dir: user.Home, Env: []string{"HOME=" + user.Home},
			// Ansible needs the name of the user. Users of platforms such as OpenShift are not in /etc/passwd.
			DefaultEnv: []string{"ANSIBLE_ROLES_PATH=" + user.Home + "/" + project.RolesDir, "USER=" + user.Name},
		},
		Prepare: func(ctx context.Context) error {
			var err error
			switch {
			case complete:
				err = c.warnMissing()
			case added:
				err = c.addRequirements(ctx)
			}
			if err != nil || !added {
				return err
			}
			return c.missingRoles(entries).Err()
		},
		Layers: func(ctx context.Context, platform, temp string, at time.Time) ([]*image.Layer, error) {
			content, err := image.NewLayer("the watches, roles, playbooks and collections", c.files, at)
			if err != nil || o.hasRuntimeOfBase() {
				return []*image.Layer{content}, err
			}
			layers, err := b.runtimeLayers(ctx, o.Runtimes, runtime.Program, platform, temp, at)
			return append(layers, content), err
		},
	}
	return m, c.problems.Err()
}

func (c *ansibleContent) add(files ...image.File) {
	for _, file := range files {
		if !c.names[file.Name] {
			c.names[file.Name] = true
			c.files = append(c.files, file)
		}
	}
}

// exists reports whether the project has a file or directory.
func (c *ansibleContent) exists(name string) bool {
	_, err := c.b.FS.Stat(filepath.Join(c.b.Root, filepath.FromSlash(name)))
	return err == nil
}

// read adds a file or directory of the project, below the home directory.
func (c *ansibleContent) read(name string) {
	c.readTree(c.b.Root, name, path.Join(c.home, name), c.add)
}

// readTree adds a file or a directory below root with a function.
func (c *ansibleContent) readTree(root, from, to string, add func(...image.File)) {
	files, problems := image.ReadTree(c.b.FS, root, from, to, diag.Position{})
	for _, file := range files {
		if file.Link != "" && !strings.HasPrefix(targetOf(file), to+"/") {
			c.links = append(c.links, file)
		}
	}
	add(files...)
	c.problems = append(c.problems, problems...)
}

// targetOf returns the path of the target of a link in the image.
func targetOf(file image.File) string { return path.Join(path.Dir(file.Name), file.Link) }

// checkLinks adds findings about links to files that are not in the image.
func (c *ansibleContent) checkLinks() {
	for _, file := range c.links {
		if target := targetOf(file); !c.names[target] && !c.names[target+"/"] {
			c.problems.Addf(diag.Position{File: strings.TrimPrefix(file.Name, c.home+"/")}, "links to %s, which the image does not contain; replace it with a file", file.Link)
		}
	}
}

// watches returns the entries of watches.yaml, after adding the files that they name outside of the usual directories. The error lists
// playbooks and roles that are missing, except roles in collections.
func (c *ansibleContent) watches() ([]watches.AnsibleWatch, error) {
	data, err := afero.ReadFile(c.b.FS, filepath.Join(c.b.Root, watches.FileName))
	if err != nil {
		return nil, diag.Finding{Position: diag.Position{File: watches.FileName}, Problem: "cannot read the file: " + diag.Cause(err).Error(), Err: err}
	}
	entries, err := watches.ParseAnsible(watches.FileName, data, nil)
	if err != nil {
		return nil, err
	}
	for _, w := range entries {
		if w.Playbook == "" && w.Role == "" {
			c.problems.Addf(w.Position, "%s has neither a playbook nor a role, so that the operator would not start; add one", w.Kind)
		}
		for _, run := range runsOf(w) {
			if run.playbook != "" {
				c.checkPlaybook(w.Position, run.playbook)
			} else if run.role != "" {
				c.checkRole(w.Position, run.role)
			}
		}
	}
	return entries, nil
}

// ansibleRun is a playbook or a role of an entry. A playbook has precedence.
type ansibleRun struct{ playbook, role string }

func runsOf(w watches.AnsibleWatch) []ansibleRun {
	runs := []ansibleRun{{w.Playbook, w.Role}}
	if w.Finalizer != nil {
		runs = append(runs, ansibleRun{w.Finalizer.Playbook, w.Finalizer.Role})
	}
	return runs
}

// hasVariable reports whether a value of watches.yaml refers to environment variables of the operator.
func hasVariable(value string) bool { return strings.Contains(value, "$") }

// inImage returns the path of a file in the image, and its path in the project, which is empty if it is not below the home directory.
func (c *ansibleContent) inImage(name string) (image, inProject string) {
	image = strings.TrimPrefix(path.Clean(name), "/")
	if !path.IsAbs(name) {
		image = path.Join(c.home, name)
	}
	inProject, ok := strings.CutPrefix(image, c.home+"/")
	if !ok {
		return image, ""
	}
	return image, inProject
}

// checkPlaybook adds a playbook that is not in the directory of playbooks, and a finding if there is none.
func (c *ansibleContent) checkPlaybook(at diag.Position, name string) {
	if hasVariable(name) {
		return
	}
	file, inProject := c.inImage(name)
	if inProject != "" && !c.names[file] && c.exists(inProject) {
		c.read(inProject)
	}
	if !c.names[file] {
		c.problems.Addf(at, "playbook %q: the image would have no such file; it contains %s", name, contentOfImage)
	}
}

// checkRole does so for a role that is not one of a collection.
func (c *ansibleContent) checkRole(at diag.Position, name string) {
	if hasVariable(name) || isCollectionRole(name) {
		return
	}
	dir := path.Join(c.home, project.RolesDir, name)
	if path.IsAbs(name) {
		var inProject string
		if dir, inProject = c.inImage(name); inProject != "" && !c.names[dir+"/"] && c.exists(inProject) {
			c.read(inProject)
		}
	}
	if !c.names[dir+"/"] {
		c.problems.Addf(at, "role %q: the image would have no such role; it contains %s", name, contentOfImage)
	}
}

// contentOfImage describes the content of an image.
const contentOfImage = watches.FileName + ", " + project.RolesDir + ", " + project.PlaybooksDir + " and collections"

// isCollectionRole reports whether the name of a role is NAMESPACE.COLLECTION.ROLE.
func isCollectionRole(name string) bool {
	return !path.IsAbs(name) && strings.Count(name, ".") == 2 && !strings.Contains(name, "/")
}

// missingRoles returns the roles of collections that are not in the image.
func (c *ansibleContent) missingRoles(entries []watches.AnsibleWatch) (findings diag.Findings) {
	for _, w := range entries {
		for _, run := range runsOf(w) {
			if run.playbook != "" || !isCollectionRole(run.role) || hasVariable(run.role) {
				continue
			}
			parts := strings.Split(run.role, ".")
			if !c.names[path.Join(c.collections(), parts[0], parts[1], "roles", parts[2])+"/"] {
				findings.Addf(w.Position, "role %q: the image would have no such role; add the collection %s.%s to %s, or pass --collections base if the base has it",
					run.role, parts[0], parts[1], ansibletool.RequirementsFile)
			}
		}
	}
	return findings
}
