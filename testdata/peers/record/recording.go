package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
)

// A recording collects what the commands of a release write.
type recording struct {
	dir, peer string
	release   migrate.Release
	trees     []migrate.Tree
	creations []migrate.Creation
	// projects holds the finished projects by name.
	projects map[string]map[string][]byte
	// refused are the commands that the release does not have.
	refused map[string]bool
}

// Names of the projects.
const (
	repo        = "git.test/admiralty/voyage"
	projectName = "voyage"
	domain      = "harbor-master.test"
)

// create creates a project.
func (r *recording) create(s sample) error {
	root := filepath.Join(r.dir, strings.ReplaceAll(s.name, " ", "-"), projectName)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	init := strings.Fields("init --domain " + domain + " --repo " + repo + " --project-name " + projectName +
		" --fetch-deps=false --skip-go-version-check " + s.init)
	if available, err := r.run(root, init); err != nil || !available {
		return err
	}
	before, err := r.read(root, nil)
	if err != nil {
		return err
	}
	for _, command := range s.commands {
		available, err := r.run(root, arguments(command))
		if err != nil {
			return err
		}
		if !available {
			continue
		}
		if before, err = r.read(root, before); err != nil {
			return err
		}
	}
	if r.projects == nil {
		r.projects = map[string]map[string][]byte{}
	}
	r.projects[s.name] = before
	return nil
}

// run runs a command of the release. A command that the release does not have is reported.
func (r *recording) run(root string, args []string) (available bool, err error) {
	err = execute(root, r.peer, args...)
	if err != nil && strings.Contains(err.Error(), "webhook resource already exists") { // older releases want --force
		err = execute(root, r.peer, append(args, "--force")...)
	}
	if err == nil {
		return true, nil
	}
	for _, message := range []string{"unknown flag", "no plugin could be resolved", "is not supported"} {
		if strings.Contains(err.Error(), message) {
			if r.refused == nil {
				r.refused = map[string]bool{}
			}
			if command := strings.Join(args, " "); !r.refused[command] {
				r.refused[command] = true
				fmt.Printf("    not in this release: %s\n", command)
			}
			return false, nil
		}
	}
	return false, err
}

// read reads a project after a command, and records what the command changed. It returns the files.
func (r *recording) read(root string, before map[string][]byte) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, p)
		if err == nil {
			files[filepath.ToSlash(name)], err = os.ReadFile(p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	config, err := project.Parse(files[project.FileName])
	if err != nil {
		return nil, err
	}
	tree := migrate.Tree{
		Releases: []migrate.Release{r.release}, Files: files,
		Names: migrate.Names{Project: projectName, Domain: domain, Repo: repo},
	}
	for _, resource := range config.Resources() {
		tree.Names.Resources = append(tree.Names.Resources,
			migrate.Resource{Group: resource.Group, Version: resource.Version, Kind: resource.Kind, Plural: resource.Plural})
		tree.Content = max(tree.Content, migrate.WithAPI)
		if resource.Webhooks != nil {
			tree.Content = migrate.WithWebhooks
		}
	}
	r.trees = append(r.trees, tree)
	if before != nil {
		r.creations = append(r.creations, migrate.Creation{Release: r.release, Names: tree.Names, Before: before, After: files})
	}
	return files, nil
}

// write adds the recording to the files of pkg/migrate.
func (r *recording) write() error {
	err := extend("fingerprints.txt", func(text string) (string, error) { return migrate.Extend(text, r.trees) })
	if err != nil || r.release.Tool == own {
		return err // delete commands render what this program creates
	}
	return extend("fingerprints_created.txt", func(text string) (string, error) { return migrate.ExtendCreated(text, r.creations) })
}

func extend(name string, change func(string) (string, error)) error {
	name = filepath.Join("pkg", "migrate", name)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	changed, err := change(string(text))
	if err != nil {
		return err
	}
	fmt.Printf("    %s: %d lines, %d before\n", filepath.ToSlash(name), strings.Count(changed, "\n"), strings.Count(string(text), "\n"))
	return os.WriteFile(name, []byte(changed), 0o644)
}

// missingIn returns the keys that only the first map has, sorted.
func missingIn[V, W any](a map[string]V, b map[string]W) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(key string) bool {
		_, ok := b[key]
		return ok
	})
}
