package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/project"
)

// compare prints what the release has and Operon does not.
func (r *recording) compare(ours string, s sample) error {
	for _, command := range []string{"", "init", "edit", "create api", "create webhook", "alpha", "alpha generate", "alpha update"} {
		theirs, own := help(r.peer, command), help(ours, command)
		name := strings.TrimSpace("operon " + command)
		for _, flag := range missingIn(theirs, own) {
			fmt.Printf("    %s has no %s\n", name, flag)
		}
	}
	root := filepath.Join(r.dir, "ours")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	init := strings.Fields("init --domain " + domain + " --repo " + repo + " --project-name " + projectName + " " + s.init)
	if err := execute(root, ours, init...); err != nil {
		return err
	}
	for _, command := range s.commands {
		if err := execute(root, ours, append(strings.Fields(command), "--make=false")...); err != nil {
			fmt.Printf("    %v\n", err)
		}
	}
	own := &recording{}
	files, err := own.read(root, nil)
	if err != nil {
		return err
	}
	for _, file := range missingIn(r.projects[s.name], files) {
		fmt.Printf("    operon does not write %s\n", file)
	}
	known := map[string]bool{}
	if err := keys(files[project.FileName], known); err != nil {
		return err
	}
	all := map[string]bool{}
	for _, p := range r.projects {
		if err := keys(p[project.FileName], all); err != nil {
			return err
		}
	}
	for _, key := range missingIn(all, known) {
		fmt.Printf("    operon writes no %s to PROJECT in project %q\n", key, s.name)
	}
	return nil
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

// keys collects the paths of the keys in a PROJECT file.
func keys(text []byte, into map[string]bool) error {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return err
	}
	var collect func(*yaml.Node, string)
	collect = func(n *yaml.Node, path string) {
		for i, child := range n.Content {
			switch {
			case n.Kind != yaml.MappingNode:
				collect(child, path)
			case i%2 == 0:
				into[path+"."+child.Value] = true
				collect(n.Content[i+1], path+"."+child.Value)
			}
		}
	}
	collect(&root, "")
	return nil
}
