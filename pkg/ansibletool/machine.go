package ansibletool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// The programs that a run of a role starts.
const (
	Playbook = "ansible-playbook"
	Runner   = "ansible-runner"
	Galaxy   = "ansible-galaxy"
)

// The oldest versions that operators work with. ansible-playbook prints its interpreter since the first one. kubernetes.core, which
// contains the modules for Kubernetes, requires the last one.
const (
	minCore       = "2.12"
	minRunner     = "2.0"
	minKubernetes = "12.0"
)

// unknownVersion is what ansible-runner prints in Debian 13, whose package is built without the version, 2.4.1.
const unknownVersion = "0.0.0"

// Run runs a program, with arguments, and returns its standard output. The error is fs.ErrNotExist if the program is not found,
// and contains the end of its standard error if it fails.
type Run func(ctx context.Context, name string, args ...string) ([]byte, error)

// A Machine describes the Ansible of a machine. Versions of missing programs and packages are empty.
type Machine struct {
	// Core is the version of ansible-core, AnsibleRunner the version of ansible-runner.
	Core, AnsibleRunner string
	// Python is the path of the interpreter that runs the modules on localhost: from a virtual environment, or ansible-playbook's.
	Python string
	// Kubernetes is the version of the package kubernetes of Python.
	Kubernetes string
	// Collections maps the names of the installed collections to their versions, after ReadCollections.
	Collections map[string]string
	// failed maps programs that are found but fail to their errors.
	failed map[string]error
}

// VirtualPython returns the path of the interpreter of a virtual environment, the value of VIRTUAL_ENV, or an empty string if there is
// none. It runs the modules on localhost.
func VirtualPython(dir string, stat func(string) (fs.FileInfo, error)) string {
	python := filepath.Join(dir, "bin", "python3")
	if _, err := stat(python); dir == "" || err != nil {
		return ""
	}
	return python
}

// Inspect returns the Ansible of a machine. If virtualPython is not empty, it runs the modules on localhost. The only error is ctx's; what
// is missing is reported by CheckPrograms and CheckPackages.
func Inspect(ctx context.Context, run Run, virtualPython string) (*Machine, error) {
	m := &Machine{failed: map[string]error{}}
	query := func(program string, args ...string) string {
		out, err := run(ctx, program, args...)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.failed[program] = err
		}
		if err != nil {
			return ""
		}
		return string(out)
	}
	m.Core, m.Python = parsePlaybookVersion(query(Playbook, "--version"))
	m.AnsibleRunner = strings.TrimSpace(query(Runner, "--version"))
	if virtualPython != "" {
		m.Python = virtualPython
	}
	if m.Python != "" {
		const version = "import importlib.metadata as m\ntry: print(m.version('kubernetes'))\nexcept m.PackageNotFoundError: pass"
		m.Kubernetes = strings.TrimSpace(query(m.Python, "-c", version))
	}
	return m, ctx.Err()
}

// ReadCollections sets Collections. The only error is ctx's; without ansible-galaxy, there are no collections.
func (m *Machine) ReadCollections(ctx context.Context, run Run) error {
	out, _ := run(ctx, Galaxy, "collection", "list", "--format", "json")
	m.Collections = parseCollections(string(out))
	return ctx.Err()
}

var (
	playbookVersion = regexp.MustCompile(`(?m)^` + Playbook + ` \[?(?:core |base )?(\d[^]\s]*)`)
	pythonVersion   = regexp.MustCompile(`(?m)^\s*python version = .*\((.+)\)\s*$`)
)

// parsePlaybookVersion returns the version in the output of ansible-playbook --version, and its interpreter.
func parsePlaybookVersion(out string) (version, python string) {
	if found := playbookVersion.FindStringSubmatch(out); found != nil {
		version = found[1]
	}
	if found := pythonVersion.FindStringSubmatch(out); found != nil {
		python = found[1]
	}
	return version, python
}

// parseCollections returns the versions in the output of ansible-galaxy collection list. Of a collection that is installed in several
// directories, any version is returned that is not unknown.
func parseCollections(out string) map[string]string {
	var directories map[string]map[string]struct{ Version string }
	_ = json.Unmarshal([]byte(out), &directories) // without any collection, there is no output
	found := map[string]string{}
	for _, collections := range directories {
		for name, c := range collections {
			if old, ok := found[name]; !ok || old == "*" || c.Version != "*" && atLeast(c.Version, old) {
				found[name] = c.Version
			}
		}
	}
	return found
}

// CheckPrograms returns the programs that operators need and that are missing or too old.
func (m *Machine) CheckPrograms() diag.Findings {
	return slices.Concat(
		m.check(Playbook, Playbook, m.Core, minCore, "install Ansible, on Debian and Ubuntu with 'apt-get install ansible', on other systems with 'pip install ansible'"),
		m.check(Runner, Runner, m.AnsibleRunner, minRunner, "install it, on Debian and Ubuntu with 'apt-get install python3-ansible-runner', on other systems with 'pip install ansible-runner'"))
}

// CheckPackages returns the packages of Python that modules for Kubernetes need and that are missing or too old.
func (m *Machine) CheckPackages() diag.Findings {
	if m.Python == "" {
		return nil
	}
	return m.check("Python package kubernetes for "+m.Python, m.Python, m.Kubernetes, minKubernetes,
		fmt.Sprintf("install it, for the Python of Debian and Ubuntu with 'apt-get install python3-kubernetes', for others with '%s -m pip install kubernetes'", m.Python))
}

// check returns the problem of a version, which a program has printed.
func (m *Machine) check(name, program, version, minimum, fix string) (findings diag.Findings) {
	problem := ""
	switch {
	case m.failed[program] != nil:
		problem = m.failed[program].Error()
	case version == "":
		problem = "not found; " + fix
	case version == unknownVersion || atLeast(version, minimum):
		return nil
	default:
		problem = fmt.Sprintf("version %s is too old, %s or newer is required; %s", version, minimum, fix)
	}
	return diag.Findings{{Problem: name + ": " + problem}}
}

// atLeast reports whether a version is the same as another one or newer, by its leading numbers.
func atLeast(version, minimum string) bool {
	return slices.Compare(numbers(version), numbers(minimum)) >= 0
}

// numbers returns the leading numbers of a version without zeros at the end: 2, 14 and 18 of 2.14.18rc1, and 3 of 3.0.
func numbers(version string) (result []int) {
	defer func() {
		for len(result) > 0 && result[len(result)-1] == 0 {
			result = result[:len(result)-1]
		}
	}()
	for part := range strings.SplitSeq(version, ".") {
		end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(part)
		}
		n, err := strconv.Atoi(part[:end])
		if err != nil {
			return result
		}
		if result = append(result, n); end < len(part) {
			return result
		}
	}
	return result
}
