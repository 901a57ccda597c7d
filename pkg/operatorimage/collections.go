package operatorimage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
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
	dir := c.user.HomeDir()
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
			c.addCollections(c.b.Root, dir)
		}
	}
	return found
}

// requirements returns the content of requirements.yml, or nil if there is none.
func (c *ansibleContent) requirements() ([]byte, error) {
	data, err := afero.ReadFile(c.b.FS, filepath.Join(c.b.Root, ansibletool.RequirementsFile))
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
	dir, err := c.b.vendoredCollections(ctx, data)
	if err != nil {
		return err
	}
	c.addCollections(dir, ansibletool.CollectionsDir)
	c.checkLinks()
	return c.problems.Err()
}

// warnMissing warns of collections in requirements.yml that the project doesn't contain: the image adds only the project's collections.
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
			c.b.Warn(diag.Finding{Position: r.Position, Problem: fmt.Sprintf("collection %s is not among those that the project contains, so it must be in the base", r.Name)})
		}
	}
	return nil
}

// ansibleConfig returns the file that Ansible would read outside of a project, or "".
func (b *Builder) ansibleConfig() string {
	if file := b.Getenv("ANSIBLE_CONFIG"); file != "" {
		return b.absolute(file)
	}
	var candidates []string
	if home := b.Getenv("HOME"); home != "" {
		candidates = append(candidates, filepath.Join(home, ".ansible.cfg"))
	}
	for _, file := range append(candidates, "/etc/ansible/ansible.cfg") {
		if _, err := b.FS.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

// vendoredCollections returns the directory with the collections of requirements.yml.
func (b *Builder) vendoredCollections(ctx context.Context, data []byte) (string, error) {
	if b.CacheDir == "" {
		return "", errors.New("no directory for caches: set HOME or XDG_CACHE_HOME")
	}
	if settings, err := afero.ReadFile(b.FS, filepath.Join(b.Root, "ansible.cfg")); err == nil && bytes.Contains(settings, []byte("[galaxy")) && b.Getenv("ANSIBLE_CONFIG") == "" {
		b.Notef("note: the project's ansible.cfg does not apply to %s; to use its servers, set ANSIBLE_CONFIG to it", ansibletool.Galaxy)
	}
	vendor := &ansibletool.Vendor{
		CacheDir: filepath.Join(b.CacheDir, "operon", "collections"), Offline: b.Offline, Config: b.ansibleConfig(),
		Run: b.Galaxy,
	}
	dir, err := vendor.Collections(ctx, b.Root, ansibletool.RequirementsFile, data)
	if errors.Is(err, ansibletool.ErrGalaxyMissing) {
		err = fmt.Errorf("%w; install Ansible, add the collections to the project in collections/%s, or pass --collections base if the base has them", err, ansibletool.CollectionsDir)
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("the collections of %s: %w", ansibletool.RequirementsFile, err)
	}
	return dir, err
}
