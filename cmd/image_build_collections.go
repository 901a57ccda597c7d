package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/ansibletool"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
)

// collections returns the directory of collections in the image.
func (c *ansibleContent) collections() string {
	return path.Join(c.home, ".ansible", "collections", ansibletool.CollectionsDir)
}

// writable returns a directory below the home directory that the user of the container may write to, like that itself.
func (c *ansibleContent) writable(name string) image.File {
	dir := ansibleUser().HomeDir()
	dir.Name = path.Join(c.home, name) + "/"
	return dir
}

// addCollections adds collections. Python stores bytecode in their directories.
func (c *ansibleContent) addCollections(root, from string) {
	c.add(c.writable(".ansible/collections"))
	c.readTree(root, from, c.collections(), func(files ...image.File) {
		for _, file := range files {
			if strings.HasSuffix(file.Name, "/") {
				file = c.writable(strings.TrimPrefix(file.Name, c.home+"/"))
			}
			c.add(file)
		}
	})
}

// readCollections adds the collections that the project contains, and reports whether it contains a directory of collections.
func (c *ansibleContent) readCollections() (found bool) {
	for _, dir := range []string{path.Join(project.CollectionsDir, ansibletool.CollectionsDir), ansibletool.CollectionsDir} {
		if c.exists(dir) {
			found = true
			c.addCollections(c.root, dir)
		}
	}
	return found
}

// requirements returns the content of requirements.yml, or nil if there is none.
func (c *ansibleContent) requirements() ([]byte, error) {
	data, err := afero.ReadFile(c.a.FS, filepath.Join(c.root, ansibletool.RequirementsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ansibletool.RequirementsFile, diag.Cause(err))
	}
	return data, nil
}

// addRequirements adds the collections of requirements.yml.
func (c *ansibleContent) addRequirements(ctx context.Context) error {
	data, err := c.requirements()
	if data == nil || err != nil {
		return err
	}
	dir, err := c.a.vendoredCollections(ctx, c.root, data)
	if err != nil {
		return err
	}
	c.addCollections(dir, ansibletool.CollectionsDir)
	c.checkLinks()
	return c.problems.Err()
}

// warnMissing warns of collections in requirements.yml that are not among those of the project, which are all that the image adds.
func (c *ansibleContent) warnMissing() error {
	data, err := c.requirements()
	if data == nil || err != nil {
		return err
	}
	required, err := ansibletool.Requirements(ansibletool.RequirementsFile, data)
	if err != nil {
		return err
	}
	for _, r := range required {
		if namespace, name, _ := strings.Cut(r.Name, "."); r.Name != "" && !c.names[path.Join(c.collections(), namespace, name)+"/"] {
			c.a.warn(diag.Finding{Position: r.Position, Problem: fmt.Sprintf("collection %s is not among those that the project contains, so it must be in the base", r.Name)})
		}
	}
	return nil
}

// ansibleConfig returns the file that Ansible would read outside of a project, or "".
func (a *app) ansibleConfig() string {
	if file := a.Getenv("ANSIBLE_CONFIG"); file != "" {
		return absolute(a.Dir, file)
	}
	var candidates []string
	if home := a.Getenv("HOME"); home != "" {
		candidates = append(candidates, filepath.Join(home, ".ansible.cfg"))
	}
	for _, file := range append(candidates, "/etc/ansible/ansible.cfg") {
		if _, err := a.FS.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

// vendoredCollections returns the directory with the collections of requirements.yml.
func (a *app) vendoredCollections(ctx context.Context, root string, data []byte) (string, error) {
	if a.CacheDir == "" {
		return "", errors.New("no directory for caches: set HOME or XDG_CACHE_HOME")
	}
	if settings, err := afero.ReadFile(a.FS, filepath.Join(root, "ansible.cfg")); err == nil && bytes.Contains(settings, []byte("[galaxy")) && a.Getenv("ANSIBLE_CONFIG") == "" {
		a.notef("note: the project's ansible.cfg does not apply to %s; to use its servers, set ANSIBLE_CONFIG to it", ansibletool.Galaxy)
	}
	vendor := &ansibletool.Vendor{
		CacheDir: filepath.Join(a.CacheDir, "operon", "collections"), Offline: a.offline, Config: a.ansibleConfig(),
		Run: func(ctx context.Context, dir string, variables []string, out io.Writer, args ...string) error {
			return a.reportSlow(a.progressWriter(), "resolving the collections of "+ansibletool.RequirementsFile+" with "+ansibletool.Galaxy, func() error {
				return a.Run(ctx, Command{Dir: dir, Environ: slices.Concat(a.Environ, variables), Out: out, Err: out, Name: ansibletool.Galaxy, Args: args, Tied: true})
			})
		},
	}
	dir, err := vendor.Collections(ctx, root, ansibletool.RequirementsFile, data)
	if errors.Is(err, ansibletool.ErrGalaxyMissing) {
		err = fmt.Errorf("%w; install Ansible, add the collections to the project in collections/%s, or give --collections base if the base has them", err, ansibletool.CollectionsDir)
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("the collections of %s: %w", ansibletool.RequirementsFile, err)
	}
	return dir, err
}
