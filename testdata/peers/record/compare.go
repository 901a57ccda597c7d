package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/project"
)

// compare prints what the release has and Operon does not, in the projects that the release can create.
func (r *recording) compare(ours string, projects []sample) error {
	for _, command := range []string{"", "init", "edit", "create api", "create webhook", "alpha", "alpha generate", "alpha update"} {
		theirs, own := help(r.peer, command), help(ours, command)
		name := strings.TrimSpace("operon " + command)
		for _, flag := range missingIn(theirs, own) {
			fmt.Printf("    %s has no %s\n", name, flag)
		}
	}
	files, keys := map[string][]string{}, map[string][]string{} // the projects in which Operon lacks them
	for i, s := range projects {
		if r.projects[s.name] == nil {
			continue
		}
		own, err := r.createOurs(ours, s, i)
		if err != nil {
			return err
		}
		if own == nil {
			continue
		}
		for _, file := range missingIn(r.projects[s.name], own) {
			files[file] = append(files[file], s.name)
		}
		theirKeys, err := keysOf(r.projects[s.name][project.FileName])
		if err != nil {
			return err
		}
		ownKeys, err := keysOf(own[project.FileName])
		if err != nil {
			return err
		}
		for _, key := range missingIn(theirKeys, ownKeys) {
			keys[key] = append(keys[key], s.name)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		fmt.Printf("    operon does not write %s (projects: %s)\n", file, strings.Join(files[file], ", "))
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		fmt.Printf("    operon writes no %s to PROJECT (projects: %s)\n", key, strings.Join(keys[key], ", "))
	}
	return nil
}

// createOurs creates a project of the matrix with Operon, without what the release refused, and returns its files, or nil. What
// Operon refuses is reported.
func (r *recording) createOurs(ours string, s sample, number int) (map[string][]byte, error) {
	root := filepath.Join(r.dir, "ours", strconv.Itoa(number), projectName)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	init := strings.Fields("init --domain " + domain + " --repo " + repo + " --project-name " + projectName + " " + s.init)
	if err := execute(root, ours, init...); err != nil {
		fmt.Printf("    project %q: %s\n", s.name, firstLines(err))
		return nil, nil
	}
	for _, command := range s.commands {
		if r.refused[strings.Join(arguments(command), " ")] {
			continue
		}
		if err := execute(root, ours, strings.Fields(command)...); err != nil {
			fmt.Printf("    project %q: %s\n", s.name, firstLines(err))
		}
	}
	return (&recording{}).read(root, nil)
}

// firstLines returns the first two lines of the error of execute: the command and the problem.
func firstLines(err error) string {
	lines := strings.SplitN(err.Error(), "\n", 3)
	return strings.Join(lines[:min(2, len(lines))], ": ")
}

var helpEntry = regexp.MustCompile(`(?m)^  +(?:-\w, )?(--[a-z-]+|[a-z-]+)  `)

// help returns the flags and commands that the help of a command lists.
func help(program, command string) map[string]bool {
	out, _ := exec.Command(program, append(strings.Fields(command), "--help")...).CombinedOutput() // without the command, it is empty
	entries := map[string]bool{}
	for _, m := range helpEntry.FindAllStringSubmatch(string(out), -1) {
		entries[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(string(out), -1) {
		entries[m] = true
	}
	return entries
}

// keysOf returns the paths of the keys in a PROJECT file.
func keysOf(text []byte) (map[string]bool, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	var collect func(*yaml.Node, string)
	collect = func(n *yaml.Node, path string) {
		for i, child := range n.Content {
			switch {
			case n.Kind != yaml.MappingNode:
				collect(child, path)
			case i%2 == 0:
				keys[path+"."+child.Value] = true
				collect(n.Content[i+1], path+"."+child.Value)
			}
		}
	}
	collect(&root, "")
	return keys, nil
}
