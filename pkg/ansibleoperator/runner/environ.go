package runner

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/ansibletool"
)

// environment is the environment of all runs.
type environment struct {
	values map[string]string
	dir    string
	// runner is the path of ansible-runner, and python the path of an interpreter for the supervisor.
	runner, python string
	// flags are the interpreter's flags in ansible-runner, such as -s.
	flags []string
}

// newEnvironment returns the environment of runs, or an error if a program is missing that New needs. Check reports all of them.
func newEnvironment(config Config) (*environment, error) {
	e := readEnvironment(config)
	if e.runner = e.lookPath("ansible-runner"); e.runner == "" {
		return nil, errors.New("ansible-runner: not found in PATH; on Debian and Ubuntu, install python3-ansible-runner")
	}
	if e.python, e.flags = e.interpreter(e.runner); e.python == "" {
		e.python = e.lookPath("python3")
	}
	if e.python == "" {
		return nil, errors.New("python3: not found in PATH")
	}
	return e, nil
}

func readEnvironment(config Config) *environment {
	e := &environment{values: map[string]string{}, dir: config.Dir}
	for _, variable := range config.Environ {
		if name, value, ok := strings.Cut(variable, "="); ok {
			e.values[name] = value
		}
	}
	// Ansible requires a name also for users that the system does not list, as in OpenShift.
	if e.values["LOGNAME"]+e.values["USER"]+e.values["LNAME"]+e.values["USERNAME"] == "" {
		e.values["USER"] = "ansible"
	}
	e.addPaths("ANSIBLE_ROLES_PATH", config.RolesPaths, "ANSIBLE_ROLES_PATH")
	// The plural is an old name of the variable, which Ansible ignores if both are set.
	e.addPaths("ANSIBLE_COLLECTIONS_PATH", config.CollectionsPaths, "ANSIBLE_COLLECTIONS_PATH", "ANSIBLE_COLLECTIONS_PATHS")
	return e
}

// addPaths makes a list of paths absolute and adds others in front of it.
func (e *environment) addPaths(name string, paths []string, sources ...string) {
	paths = slices.Clone(paths)
	for _, source := range sources {
		if value := e.values[source]; value != "" {
			paths = append(paths, filepath.SplitList(value)...)
			break
		}
	}
	if len(paths) == 0 {
		return
	}
	for i := range paths {
		paths[i] = e.absolute(paths[i])
	}
	e.values[name] = strings.Join(paths, string(filepath.ListSeparator))
}

// absolute returns a path as Ansible, whose working directory is another one, must receive it.
func (e *environment) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) || strings.HasPrefix(path, "~") {
		return path
	}
	return filepath.Join(e.dir, path)
}

// lookPath returns the path of a program, or an empty string.
func (e *environment) lookPath(name string) string {
	for _, dir := range filepath.SplitList(e.values["PATH"]) {
		path := filepath.Join(e.absolute(dir), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.IsAbs(path) {
			return path
		}
	}
	return ""
}

// interpreter returns the path of the interpreter in the first line of a Python script, with its flags, or an empty string.
func (e *environment) interpreter(script string) (path string, flags []string) {
	file, err := os.Open(script)
	if err != nil {
		return "", nil
	}
	defer file.Close()
	reader := bufio.NewReader(io.LimitReader(file, 4096))
	line, _ := reader.ReadString('\n')
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "#!")
	if !ok {
		return "", nil
	}
	words := strings.Fields(line)
	if len(words) > 0 && filepath.Base(words[0]) == "sh" {
		// pip writes this for interpreters whose path is too long for the first line, or contains spaces.
		rest, _ := io.ReadAll(reader)
		if path, ok := bytes.CutPrefix(rest, []byte(`'''exec' `)); ok {
			path, _, _ = bytes.Cut(path, []byte(` "$0"`))
			words = []string{strings.Trim(string(path), `"`)}
		}
	}
	for i, word := range words {
		if base := filepath.Base(word); strings.HasPrefix(base, "python") || strings.HasPrefix(base, "pypy") {
			if !filepath.IsAbs(word) {
				word = e.lookPath(word)
			}
			return word, words[i+1:]
		}
	}
	return "", nil
}

// virtualPython returns the interpreter of VIRTUAL_ENV, or an empty string if there is none, or if ansible-playbook is part of it.
func (e *environment) virtualPython() string {
	python := ansibletool.VirtualPython(e.absolute(e.values["VIRTUAL_ENV"]), os.Stat)
	if playbook, _ := e.interpreter(e.lookPath(ansibletool.Playbook)); filepath.Dir(python) == filepath.Dir(playbook) {
		return ""
	}
	return python
}

// inventory returns the one with localhost, where modules run with the interpreter of VIRTUAL_ENV, if there is one.
func (e *environment) inventory() string {
	if python := e.virtualPython(); python != "" {
		return strings.Replace(localInventory, "{{ ansible_playbook_python }}", python, 1)
	}
	return localInventory
}

func (e *environment) runEnviron(additional map[string]string) []string {
	values := maps.Clone(e.values)
	maps.Copy(values, additional)
	environ := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		environ = append(environ, name+"="+values[name])
	}
	return environ
}

// Variables of the plugin, which removes them from the environment of the playbook.
const (
	eventsVariable     = "OPERON_EVENTS"
	eventsFDVariable   = "OPERON_EVENTS_FD"
	pythonPathVariable = "OPERON_PYTHONPATH"
	// runVariable marks all processes of a run.
	runVariable = "OPERON_ANSIBLE_RUN"
)

// pluginEnviron returns the variables with which ansible-runner loads the plugin.
func (e *environment) pluginEnviron(python string, everything bool) map[string]string {
	plugin := filepath.Join(python, "plugin")
	values := map[string]string{eventsFDVariable: fmt.Sprint(eventsFD), "PYTHONPATH": plugin}
	if path, ok := e.values["PYTHONPATH"]; ok {
		values[pythonPathVariable] = path
		if path != "" {
			values["PYTHONPATH"] += string(filepath.ListSeparator) + path
		}
	}
	if everything {
		values[eventsVariable] = "everything"
	}
	return values
}
