package runner

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// discoveryCaches match the files in which the Python client for Kubernetes and kubernetes.core cache the kinds of an API server.
var discoveryCaches = []string{"k8srcp-*.json", "osrcp-*.json"}

// temporary creates the directory for the temporary files of a run, and returns the variables that refer to it. Its path is short,
// because the paths of sockets are limited, and in TMPDIR, if the user has set it. Everything that the run leaves there is removed
// after it, except for discovery caches, which the next run receives.
func (r *Runner) temporary(ident string) (variables map[string]string, remove func() error, err error) {
	dir, cache := filepath.Join(r.root.temporary, ident[:8]), filepath.Join(r.root.own, "discovery")
	for _, d := range []string{dir, cache} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, nil, fmt.Errorf("directory for temporary files: %w", describeFull(err, r.root.dir))
		}
	}
	for _, pattern := range discoveryCaches {
		files, _ := filepath.Glob(filepath.Join(cache, pattern))
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil {
				_ = os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o600)
			}
		}
	}
	variables = map[string]string{"TMPDIR": dir}
	if r.env.values["ANSIBLE_LOCAL_TEMP"] == "" {
		variables["ANSIBLE_LOCAL_TEMP"] = dir
	}
	return variables, func() error {
		var errs []error
		for _, pattern := range discoveryCaches {
			files, _ := filepath.Glob(filepath.Join(dir, pattern))
			for _, file := range files {
				if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
					errs = append(errs, keepCache(file, cache))
				}
			}
		}
		return errors.Join(append(errs, os.RemoveAll(dir))...)
	}, nil
}

// keepCache copies a file to a directory, which may be on another file system, and replaces it there as a whole.
func keepCache(file, dir string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), filepath.Join(dir, filepath.Base(file)))
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}

// withoutProxy returns variables with which clients contact servers on this machine without the HTTP proxy of the environment.
func (e *environment) withoutProxy() map[string]string {
	proxy := ""
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		proxy += e.values[name]
	}
	if proxy == "" {
		return nil
	}
	hosts := []string{"127.0.0.1", "localhost"}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if value := e.values[name]; value != "" {
			hosts = append([]string{value}, hosts...)
			break
		}
	}
	value := strings.Join(hosts, ",")
	return map[string]string{"NO_PROXY": value, "no_proxy": value}
}

// additional returns the variables of a run that the operator itself doesn't have.
func (r *Runner) additional(ident string, temporary map[string]string) map[string]string {
	values := r.env.pluginEnviron(r.root.own, r.config.LogEvents == Everything)
	maps.Copy(values, r.env.withoutProxy())
	maps.Copy(values, temporary)
	values[runVariable] = ident
	return values
}
