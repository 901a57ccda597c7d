package runner_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
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
