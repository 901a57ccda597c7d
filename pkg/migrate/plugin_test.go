package migrate

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestFilesOfPlugins upgrades files of optional plugins in a project that is current otherwise: unedited ones of an older release are
// replaced as a whole, edited ones and missing ones stay as they are.
func TestFilesOfPlugins(t *testing.T) {
	t.Parallel()
	const (
		dashboard, other = "grafana/controller-runtime-metrics.json", "grafana/controller-resources-metrics.json"
		workflow         = ".github/workflows/auto_update.yml"
	)
	old := map[string][]byte{
		dashboard: []byte("{\n  \"title\": \"a\"\n}\n"), other: []byte("{\n  \"title\": \"b\"\n}\n"),
		workflow: []byte("name: old\non:\n  schedule:\n  - cron: \"0 0 * * 1\"\njobs:\n  run:\n    steps:\n    - run: old\n"),
	}
	current := map[string][]byte{
		"Dockerfile": []byte("FROM a\n" + strings.Repeat("RUN b\n", 50)),
		dashboard:    []byte("{\n  \"title\": \"new a\"\n}\n"), other: []byte("{\n  \"title\": \"new b\"\n}\n"),
		workflow: []byte("name: new\non:\n  schedule:\n  - cron: \"0 5 * * 1\"\njobs:\n  run:\n    steps:\n    - run: new\n"),
	}
	crlf := func(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), "\n", "\r\n")) }
	mine := []byte("{\n  \"title\": \"mine\"\n}\n")
	step := append(slices.Clone(old[workflow]), "    - run: mine\n"...)
	for name, test := range map[string]struct{ edits, want map[string][]byte }{
		"unedited": {nil, nil},
		"CRLF":     {map[string][]byte{dashboard: crlf(old[dashboard])}, map[string][]byte{dashboard: crlf(current[dashboard])}},
		"edited":   {map[string][]byte{dashboard: mine, workflow: step}, map[string][]byte{dashboard: mine, workflow: step}},
		"missing":  {map[string][]byte{other: nil}, map[string][]byte{other: nil}},
	} {
		project := map[string][]byte{"Dockerfile": current["Dockerfile"], dashboard: old[dashboard], other: old[other], workflow: old[workflow]}
		maps.Copy(project, test.edits)
		maps.DeleteFunc(project, func(_ string, text []byte) bool { return text == nil })
		tree, result := upgradeProject(t, old, current, project)
		wanted := maps.Clone(current)
		maps.Copy(wanted, test.want)
		for _, file := range []string{dashboard, other, workflow} {
			if text, err := tree.ReadOptional(file); err != nil || string(text) != string(wanted[file]) {
				t.Errorf("%s: %s is %q, want %q; %v %v", name, file, text, wanted[file], err, result.Files)
			}
		}
	}
}
