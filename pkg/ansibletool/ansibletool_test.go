package ansibletool

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	playbook214 = `ansible-playbook [core 2.14.18]
  config file = None
  executable location = /usr/bin/ansible-playbook
  python version = 3.11.2 (main, Apr 28 2025, 14:11:48) [GCC 12.2.0] (/usr/bin/python3)
  libyaml = True
`
	playbook29 = `ansible-playbook 2.9.27
  config file = None
  python version = 3.8.10 (default, Nov 22 2023, 10:22:35) [GCC 9.4.0]
`
	collections = `{"/a": {"kubernetes.core": {"version": "2.4.0"}, "a.b": {"version": "*"}}, "/b": {"kubernetes.core": {"version": "2.10.0"}, "a.b": {"version": "1.0.0"}}}`
)

// machine returns the machine whose programs have these outputs. Others are not found, and one with the output "fail" fails.
func machine(t *testing.T, outputs map[string]string) *Machine {
	t.Helper()
	run := func(_ context.Context, name string, _ ...string) ([]byte, error) {
		out, ok := outputs[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		if out == "fail" {
			return nil, errors.New(name + ": exit status 1: no module named ansible")
		}
		return []byte(out), nil
	}
	python := "/venv/bin/python3"
	if _, ok := outputs[python]; !ok {
		python = ""
	}
	m, err := Inspect(t.Context(), run, python)
	if err == nil {
		err = m.ReadCollections(t.Context(), run)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCheck(t *testing.T) {
	t.Parallel()
	complete := map[string]string{Playbook: playbook214, Runner: "2.3.1\n", "/usr/bin/python3": "22.6.0\n", Galaxy: collections}
	with := func(changes map[string]string) map[string]string {
		result := maps.Clone(complete)
		for name, out := range changes {
			if result[name] = out; out == "" {
				delete(result, name)
			}
		}
		return result
	}
	for _, test := range []struct {
		outputs map[string]string
		want    []string
	}{
		{complete, nil},
		{nil, []string{"ansible-playbook: not found; install Ansible, ", "ansible-runner: not found; install it, "}},
		{with(map[string]string{Playbook: playbook29}), []string{"ansible-playbook: version 2.9.27 is too old, 2.12 or newer is required; install "}},
		{with(map[string]string{Playbook: "fail"}), []string{"ansible-playbook: ansible-playbook: exit status 1: no module named ansible"}},
		{with(map[string]string{Runner: "1.4.7"}), []string{"ansible-runner: version 1.4.7 is too old, 2.0 or newer is required; install "}},
		{with(map[string]string{Runner: "0.0.0"}), nil}, // Debian 13
		{with(map[string]string{"/usr/bin/python3": "\n"}), []string{"Python package kubernetes for /usr/bin/python3: not found; install it, "}},
		{with(map[string]string{"/venv/bin/python3": "\n"}), []string{"Python package kubernetes for /venv/bin/python3: not found; install it, "}},
		{with(map[string]string{"/usr/bin/python3": "11.0.0"}), []string{"version 11.0.0 is too old, 12.0 or newer is required"}},
	} {
		m := machine(t, test.outputs)
		findings := slices.Concat(m.CheckPrograms(), m.CheckPackages())
		if len(findings) != len(test.want) {
			t.Errorf("%v: findings %v, want %q", test.outputs, findings, test.want)
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(findings[i].Error(), want) {
				t.Errorf("finding %q, want %q", findings[i], want)
			}
		}
	}
}

func TestCollections(t *testing.T) {
	t.Parallel()
	m := machine(t, map[string]string{Playbook: playbook214, Galaxy: collections})
	if m.Python != "/usr/bin/python3" || m.Collections["kubernetes.core"] != "2.10.0" || m.Collections["a.b"] != "1.0.0" {
		t.Errorf("%+v", m)
	}
	required, err := Requirements("requirements.yml", []byte(`---
roles:
- name: someone.role
collections:
- name: kubernetes.core
  version: "3.2.0"
- operator_sdk.util
- name: a.b
  version: '>=1.0.0,<2'
- a.b:1.1
- https://example.com/archive.tar.gz
- name: git+https://example.com/a.git
  type: git
- name: kubernetes.core
  version: "*"
`))
	if err != nil {
		t.Fatal(err)
	}
	missing, other := m.CheckCollections(required)
	const fix = "; run 'ansible-galaxy collection install -r requirements.yml'"
	if want := "requirements.yml:7:3: collection operator_sdk.util is not installed" + fix; missing.Error() != want {
		t.Errorf("missing: %v, want %s", missing, want)
	}
	want := "requirements.yml:5:3: collection kubernetes.core 2.10.0 is installed, but 3.2.0 is required" + fix + "\n" +
		"requirements.yml:10:3: collection a.b 1.0.0 is installed, but 1.1 is required" + fix
	if got := other[0].Error() + "\n" + other[len(other)-1].Error(); got != want || len(other) != 2 {
		t.Errorf("other versions:\n%v, want\n%s", other, want)
	}
	for text, want := range map[string]string{
		"":                           "",
		"- src: a\n":                 "",
		"collections:\n":             "",
		"collections: [\n":           "reading requirements.yml: ",
		"collections:\n  a: 1.0.0\n": "requirements.yml:2:3: collections must be a list",
	} {
		required, err := Requirements("requirements.yml", []byte(text))
		if len(required) > 0 || (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, required, err, want)
		}
	}
}

// Debian 12 has ansible-core 2.14, version 22.6 of the Python client, and kubernetes.core 2.4.0. No advice installs what doesn't work with these.
func TestCollectionsOfDebian12(t *testing.T) {
	t.Parallel()
	const (
		packaged = `{"/usr/lib/python3/dist-packages": {"kubernetes.core": {"version": "2.4.0"}}}`
		venv     = "use newer versions, on Debian 12 in a virtual environment: 'apt-get install python3-venv', " +
			"'python3 -m venv ~/ansible', '. ~/ansible/bin/activate' and 'pip install ansible ansible-runner kubernetes'"
		older   = "require an older version in requirements.yml, such as 2.4.0, or " + venv
		install = "run 'ansible-galaxy collection install -r requirements.yml'"
	)
	for _, test := range []struct{ core, client, installed, required, problem, fix string }{
		{"2.14.18", "22.6.0", packaged, "2.4.0", "", ""},
		{"2.14.18", "22.6.0", packaged, "", "", ""},
		{"2.14.18", "22.6.0", packaged, "6.3.0", "collection kubernetes.core 2.4.0 is installed, but 6.3.0 is required; 6.3.0 needs ansible-core 2.16 (found: 2.14.18) and " +
			"version 24.2 of the Python package kubernetes (found: 22.6.0)", older},
		{"2.14.18", "22.6.0", "", ">=3.0.0,<4", "collection kubernetes.core is not installed; 3.0.0 needs version 24.2 of the Python package kubernetes (found: 22.6.0)", older},
		{"2.14.18", "22.6.0", "", "2.4.0", "collection kubernetes.core is not installed", install},
		{"2.14.18", "22.6.0", strings.ReplaceAll(packaged, "2.4.0", "6.3.0"), "6.3.0", "collection kubernetes.core is installed; 6.3.0 needs ansible-core 2.16 (found: 2.14.18) and " +
			"version 24.2 of the Python package kubernetes (found: 22.6.0)", older},
		{"2.15.0", "29.0.0", "", "6.3.0", "collection kubernetes.core is not installed; 6.3.0 needs ansible-core 2.16 (found: 2.15.0)", strings.Replace(older, "2.4.0", "4.0.0", 1)},
		{"2.16.0", "24.2.0", "", "6.3.0", "collection kubernetes.core is not installed", install},
		{"2.14.18", "", packaged, "3.2.0", "collection kubernetes.core 2.4.0 is installed, but 3.2.0 is required", install}, // the package is missing, which is another finding
		{"2.14.18", "22.6.0", packaged, "main", "", ""},
	} {
		m := machine(t, map[string]string{Playbook: strings.Replace(playbook214, "2.14.18", test.core, 1), "/usr/bin/python3": test.client, Galaxy: test.installed})
		required, err := Requirements("requirements.yml", []byte("collections: [{name: kubernetes.core, version: \""+test.required+"\"}]"))
		if err != nil {
			t.Fatal(err)
		}
		missing, other := m.CheckCollections(required)
		problem, fix := "", ""
		for _, f := range slices.Concat(missing, other) {
			problem, fix = problem+f.Problem, fix+f.Fix
		}
		if problem != test.problem || fix != test.fix {
			t.Errorf("%+v: got %q, %q", test, problem, fix)
		}
	}
}

func TestInRange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		version, required string
		want              bool
	}{
		{"2.4.0", "", true}, {"2.4.0", "2.4", true}, {"2.4.0", "==2.4.0", true}, {"2.4.0", "2.4.1", false}, {"*", "3.0.0", true},
		{"2.10.0", ">=2.4.0", true}, {"2.4.0", ">=2.10", false}, {"2.4.0", ">= 2.0, <2.4", false}, {"2.4.0", ">2.4.0", false}, {"2.4.0", "<=2.4", true},
		{"2.4.0", "!=2.4.0", false}, {"2.4.0", "main", true},
	} {
		if got := inRange(test.version, test.required); got != test.want {
			t.Errorf("%s in %q: %t", test.version, test.required, got)
		}
	}
}
