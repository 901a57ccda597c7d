package rbac

import (
	"slices"
	"strings"
	"testing"
)

// TestEditRole removes the rules for jobs, replaces those for pods by two, and adds one. The rules of the block are generated.
func TestEditRole(t *testing.T) {
	t.Parallel()
	const (
		head  = "kind: ClusterRole\nmetadata:\n  name: manager-role\n"
		block = "# +operon:rules:begin\n- apiGroups: [batch]\n  resources: [jobs]\n  verbs: [get]\n# +operon:rules:end\n"
		added = "- apiGroups:\n  - apps\n  resources:\n  - deployments\n  verbs:\n  - get\n"
		two   = "- apiGroups:\n  - \"\"\n  resources:\n  - pods\n  verbs:\n  - get\n- apiGroups:\n  - \"\"\n  resources:\n  - pods\n  verbs:\n  - list\n"
		jobs  = "- apiGroups: [batch]\n  resources:\n  - jobs\n  verbs: [get]\n"
		pods  = "- apiGroups: ['']\n  resources: [pods]\n  verbs: ['*']\n"
	)
	edit := func(own []Rule) (map[int][]Rule, []Rule) {
		replaced := map[int][]Rule{}
		for i, r := range own {
			switch r.Resources[0] {
			case "jobs":
				replaced[i] = nil
			case "pods":
				replaced[i] = []Rule{r, r}
				replaced[i][0].Verbs, replaced[i][1].Verbs = []string{"get"}, []string{"list"}
			}
		}
		return replaced, []Rule{{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get"}}}
	}
	for name, test := range map[string]struct{ text, want string }{
		"empty":          {head + "rules: []\n", head + "rules:\n" + added},
		"no line end":    {head + "rules: []", head + "rules:\n" + added},
		"nothing left":   {head + "rules:\n# old\n" + jobs, head + "rules:\n# old\n" + added},
		"two for one":    {head + "rules:\n" + pods + jobs + "kept: true\n", head + "rules:\n" + two + added + "kept: true\n"},
		"above a block":  {head + "rules:\n" + jobs + block + pods, head + "rules:\n" + added + block + two},
		"marker":         {head + "rules:\n" + pods + "# +kubebuilder:scaffold:rules\n", head + "rules:\n" + two + added + "# +kubebuilder:scaffold:rules\n"},
		"CRLF":           {strings.ReplaceAll(head+"rules:\n"+jobs+pods, "\n", "\r\n"), strings.ReplaceAll(head+"rules:\n"+two+added, "\n", "\r\n")},
		"flow":           {head + "rules:\n- {apiGroups: [\"\"], resources: [pods], verbs: [\"*\"]}\n", head + "rules:\n- {apiGroups: [\"\"], resources: [pods], verbs: [get]}\n- {apiGroups: [\"\"], resources: [pods], verbs: [list]}\n" + added},
		"indented":       {head + "rules:\n  - resources: [jobs]\n    verbs: [get]\n", head + "rules:\n  - apiGroups:\n    - apps\n    resources:\n    - deployments\n    verbs:\n    - get\n"},
		"another line":   {head + "rules:\n-\n  resources: [pods]\n  verbs: [get]\n", ""},
		"flow over many": {head + "rules:\n- {resources: [jobs], verbs: [get\n  ]\n  }\n", ""},
	} {
		got, _, err := EditRole("role.yaml", []byte(test.text), edit)
		if test.want == "" {
			if err == nil || !strings.HasPrefix(err.Error(), "role.yaml:4: the rules can't be edited as they are written") {
				t.Errorf("%s: %v:\n%s", name, err, got)
			}
			continue
		}
		if err != nil || string(got) != test.want {
			t.Errorf("%s (%v): got\n%s\nwant\n%s", name, err, got, test.want)
		}
	}
	_, edits, err := EditRole("role.yaml", []byte(head+"rules:\n"+jobs+pods), edit)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range edits {
		got = append(got, e.Position.String()+" "+e.Before+" → "+strings.Join(e.After, " "))
	}
	want := []string{
		"role.yaml:5 {apiGroups: [batch], resources: [jobs], verbs: [get]} → ",
		`role.yaml:9 {apiGroups: [""], resources: [pods], verbs: ['*']} → {apiGroups: [""], resources: [pods], verbs: [get]} {apiGroups: [""], resources: [pods], verbs: [list]}`,
		"role.yaml:11 → {apiGroups: [apps], resources: [deployments], verbs: [get]}",
	}
	want[2] = strings.Replace(want[2], ":11 →", ":11  →", 1)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestGeneratedRules(t *testing.T) {
	t.Parallel()
	const own, generated = "- resources: [a]\n  verbs: [get]\n", "- resources: [b]\n  verbs: [get]\n"
	for text, want := range map[string]string{
		own: "", own + "# +operon:rules:begin\n" + generated + "# +operon:rules:end\n" + own: "b",
	} {
		rules, err := GeneratedRules("role.yaml", []byte("kind: ClusterRole\nrules:\n"+text))
		var got []string
		for _, r := range rules {
			got = append(got, r.Resources...)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("got %v (%v), want %s of\n%s", got, err, want, text)
		}
	}
}
