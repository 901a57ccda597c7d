package helmchart

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata")

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Each archive contains a chart, the objects that it renders with switches (as printed by "helm template", or a line "error: …"),
// and the expected value sets, role and notes.
func TestRules(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/rules/*.txtar")
	check(t, err)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			check(t, err)
			files, inputs, want := Files{}, map[string][]byte{}, map[string]*[]byte{}
			for i, f := range archive.Files {
				dir, rest, _ := strings.Cut(f.Name, "/")
				switch dir {
				case "chart":
					files[rest] = f.Data
				case "want":
					want[rest] = &archive.Files[i].Data
				default:
					inputs[f.Name] = f.Data
				}
			}
			var sets strings.Builder
			rendered, err := Explore(t.Context(), files, func(_ context.Context, request RenderRequest) (*RenderAnswer, error) {
				answer := &RenderAnswer{Chart: Metadata{Name: "app"}, CRDs: objects(t, inputs["crds.yaml"])}
				for _, values := range request.Values {
					on := switchesOn("", values)
					if request.BuiltinOnly {
						on = append(on, "builtin")
					}
					fmt.Fprintln(&sets, "on:", strings.Join(on, " "))
					answer.Renderings = append(answer.Renderings, rendering(t, inputs, on))
				}
				return answer, nil
			})
			check(t, err)
			rules, notes := Rules([]ChartAPI{{Group: "apps.example.com", Plural: "apps", Dir: "helm-charts/app", Files: files, Rendered: rendered}})
			role, err := rbac.UpdateRole("role.yaml", inputs["role.yaml"], rules, "the charts")
			check(t, err)
			again, err := rbac.UpdateRole("role.yaml", role, rules, "the charts")
			if err != nil || string(again) != string(role) {
				t.Errorf("not stable (%v):\n%s", err, again)
			}
			var lines strings.Builder
			for _, n := range notes {
				fmt.Fprintln(&lines, n)
			}
			for file, got := range map[string]string{"sets": sets.String(), "role.yaml": string(role), "notes": lines.String()} {
				switch expected := want[file]; {
				case expected == nil:
					t.Errorf("want/%s is missing:\n%s", file, got)
				case *update:
					*expected = []byte(got)
				case string(*expected) != got:
					t.Errorf("%s: got\n%s\nwant\n%s", file, got, *expected)
				}
			}
			if *update {
				check(t, os.WriteFile(name, txtar.Format(archive), 0o644))
			}
		})
	}
}

// switchesOn returns the paths of values, which are all true, sorted.
func switchesOn(prefix string, values map[string]any) []string {
	var paths []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if inner, ok := values[key].(map[string]any); ok {
			paths = append(paths, switchesOn(prefix+key+".", inner)...)
		} else {
			paths = append(paths, prefix+key)
		}
	}
	return paths
}

var source = regexp.MustCompile(`(?m)^# Source: (.*)$`)

// rendering returns the objects of all files whose switches are on.
func rendering(t *testing.T, inputs map[string][]byte, on []string) Rendering {
	t.Helper()
	var result Rendering
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		needs, ok := strings.CutPrefix(name, "rendered/")
		isOff := func(path string) bool { return path != "default" && !slices.Contains(on, path) }
		if !ok || slices.ContainsFunc(strings.Fields(needs), isOff) {
			continue
		}
		if message, ok := strings.CutPrefix(string(inputs[name]), "error: "); ok {
			return Rendering{Error: strings.TrimSpace(message)}
		}
		result.Objects = append(result.Objects, objects(t, inputs[name])...)
	}
	return result
}

func objects(t *testing.T, text []byte) []RenderedObject {
	t.Helper()
	var all []RenderedObject
	for document := range strings.SplitSeq(string(text), "---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		o := RenderedObject{Object: map[string]any{}}
		check(t, safeyaml.Unmarshal([]byte(document), &o.Object))
		if match := source.FindStringSubmatch(document); match != nil {
			o.Template = match[1]
		}
		if hooks := o.text("metadata", "annotations", "helm.sh/hook"); hooks != "" {
			o.Hooks = strings.Split(hooks, ",")
		}
		all = append(all, o)
	}
	return all
}
