package runner_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
)

// probe is a module that describes its process.
const probe = `#!/usr/bin/python
import json, locale, os, random, signal, sys
import ansible.module_utils.basic as basic
module = basic.AnsibleModule(argument_spec={"path": {"type": "path"}})
with open("/proc/self/cmdline") as file:
    command = file.read()
temporary = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(basic.__file__))))
result = {
    "command": command, "kubernetes": "kubernetes" in sys.modules, "random": random.random(),
    "same": {
        "environ": {k: v for k, v in os.environ.items() if k not in ("_", "SHLVL")},
        "path": [p for p in sys.path if not p.endswith(".zip")], "argv": [os.path.basename(a) for a in sys.argv],
        "basic": basic.__file__.rpartition("/AnsiballZ")[2].rpartition(".zip")[2], "executable": sys.executable,
        "fds": sorted(os.listdir("/proc/self/fd"))[:4], "cwd": os.getcwd(), "umask": os.umask(0o22), "locale": locale.setlocale(locale.LC_ALL),
        "signals": {str(s): str(signal.getsignal(s)) for s in signal.valid_signals()},
        "ansible": sorted(m for m in sys.modules if m.startswith("ansible") and "builtin" not in m),
        "hooks": [str(type(h)) for h in sys.meta_path], "stdin": sys.stdin.read(), "encoding": [sys.stdin.encoding, sys.stdout.encoding, sys.stderr.encoding],
    },
}
with open(module.params["path"], "w") as file:
    json.dump(result, file)
module.exit_json(changed=False)
`

// TestWarm compares runs in forks of a warm interpreter with runs that start new ones.
func TestWarm(t *testing.T) {
	t.Parallel()
	type result struct {
		Command, Basic string
		Kubernetes     bool
		Random         float64
		Same           map[string]any
	}
	results := map[bool][]result{}
	dir := t.TempDir() // both have the same directories
	root := filepath.Join(t.TempDir(), "runs")
	for _, cold := range []bool{true, false} {
		e := newEnv(t, func(c *runner.Config) { c.Cold, c.Dir, c.Root = cold, dir, root })
		e.dir, e.root = dir, root
		e.write("library/probe.py", probe)
		e.write("module_utils/mine.py", "answer = 42\n")
		e.write("library/uses_mine.py", "#!/usr/bin/python\nfrom ansible.module_utils.basic import AnsibleModule\nfrom ansible.module_utils.mine import answer\nAnsibleModule({}).exit_json(answer=answer)\n")
		e.write("filter_plugins/count.py", "calls = 0\ndef count(value):\n    global calls\n    calls += 1\n    return calls\nclass FilterModule:\n    def filters(self):\n        return {'count': count}\n")
		request := e.playbook("one", `
- probe: {path: "`+dir+`/{{ item }}"}
  loop: [first, second]
- uses_mine:
  register: mine
- debug: {msg: "{{ 1 | count }} {{ 1 | count }}"}
  register: counted
- shell: echo "$MINE"; exit 3
  environment: {MINE: mine}
  register: own
  failed_when: own.rc != 3 or own.stdout != 'mine'
- assert: {that: [mine.answer == 42, counted.msg == '1 2']}
`)
		for range 2 {
			if got := e.run(request); got.Failed() {
				t.Fatalf("%+v", got)
			}
			for _, name := range []string{"first", "second"} {
				var r result
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil {
					err = json.Unmarshal(data, &r)
				}
				if err != nil {
					t.Fatal(err)
				}
				environ := r.Same["environ"].(map[string]any)
				for _, variable := range []string{"OPERON_ANSIBLE_RUN", "TMPDIR", "ANSIBLE_LOCAL_TEMP", "AWX_ISOLATED_DATA_DIR", "ANSIBLE_CACHE_PLUGIN_CONNECTION"} {
					if environ[variable] == nil {
						t.Errorf("%s is not set", variable)
					}
					delete(environ, variable)
				}
				results[cold] = append(results[cold], r)
				if warm := strings.Contains(r.Command, "warm.py"); warm == cold || r.Kubernetes == cold {
					t.Errorf("cold %t: command line %q, kubernetes loaded: %t", cold, r.Command, r.Kubernetes)
				}
			}
		}
		if err := e.runner.Close(); err != nil {
			t.Error(err)
		}
	}
	for i := range results[false] {
		for key, want := range results[true][i].Same {
			got := results[false][i].Same[key]
			if a, ok := got.(map[string]any); ok {
				b := want.(map[string]any)
				maps.DeleteFunc(a, func(k string, v any) bool {
					same := reflect.DeepEqual(v, b[k])
					if same {
						delete(b, k)
					}
					return same
				})
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: warm %v\ncold %v", key, got, want)
			}
		}
		for j := range i {
			if results[false][i].Random == results[false][j].Random {
				t.Error("two modules have the same random numbers")
			}
		}
	}
}

// timesInOutput match what differs between two runs of a playbook.
var timesInOutput = regexp.MustCompile(`"(start|end|delta)": "[^"]*"`)

// TestWarmOutput compares the output of runs in forks of a warm interpreter with the output of runs that start new ones.
func TestWarmOutput(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(e *env, c *runner.Config){
		"default": func(*env, *runner.Config) {},
		"log": func(_ *env, c *runner.Config) {
			c.Environ = append(slices.Clone(c.Environ), "ANSIBLE_LOG_PATH="+filepath.Join(c.Dir, "log"))
		},
		"options": func(e *env, c *runner.Config) { // as in packages of Fedora
			for _, program := range []string{"ansible-runner", "ansible-playbook"} {
				path, err := exec.LookPath(program)
				if err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				_, text, _ = bytes.Cut(text, []byte("\n"))
				if err := os.Chmod(e.write("bin/"+program, "#!/usr/bin/python3 -s\n"+string(text)), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			c.Environ = append(slices.Clone(c.Environ), "PATH="+filepath.Join(c.Dir, "bin")+":"+os.Getenv("PATH"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			root := filepath.Join(t.TempDir(), "runs")
			var outputs, logs [2]string
			for i, cold := range []bool{true, false} {
				e := newEnv(t, func(c *runner.Config) {
					c.Cold, c.Dir, c.Root = cold, dir, root
					c.Environ = append(slices.Clone(c.Environ), "ANSIBLE_NOCOLOR=1")
					change(&env{T: t, dir: dir}, c)
				})
				e.dir, e.root = dir, root
				e.write("library/describe.py", "#!/usr/bin/python\nimport logging, site\nfrom ansible.module_utils.basic import AnsibleModule\n"+
					"AnsibleModule({}).exit_json(site=str(site.ENABLE_USER_SITE), handlers=str(logging.root.handlers))\n")
				request := e.playbook("one", "- shell: printf '\\377\\n'\n- describe:\n  register: result\n- debug: {var: result}\n")
				request.Verbosity = 2
				if result := e.run(request); result.Failed() || result.Stats.OK != 3 {
					t.Errorf("cold %t: %+v", cold, result)
				}
				stdout, err := os.ReadFile(filepath.Join(e.runDir("one"), "artifacts", "latest", "stdout"))
				if err != nil {
					t.Fatal(err)
				}
				outputs[i] = timesInOutput.ReplaceAllString(string(stdout), "")
				if log, err := os.ReadFile(filepath.Join(dir, "log")); err == nil {
					logs[i] = strings.Join(regexp.MustCompile(`TASK \[.*\]`).FindAllString(string(log), -1), "\n")
					_ = os.Remove(filepath.Join(dir, "log"))
				}
				if warm := strings.Contains(e.log.String(), "runs start new interpreters"); warm {
					t.Errorf("cold %t: %s", cold, e.log)
				}
				if err := e.runner.Close(); err != nil {
					t.Error(err)
				}
			}
			if outputs[0] != outputs[1] {
				t.Errorf("warm:\n%s\ncold:\n%s", outputs[1], outputs[0])
			}
			if logs[0] != logs[1] || (logs[0] == "") == (name == "log") {
				t.Errorf("log, warm:\n%s\ncold:\n%s", logs[1], logs[0])
			}
		})
	}
}
