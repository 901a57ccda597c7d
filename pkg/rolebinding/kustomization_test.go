package rolebinding

import (
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	const block = "\n# Keeps the namespaces of +kubebuilder:rbac markers; generated.\ntransformers:\n- marker_role_namespaces.yaml\n"
	for name, test := range map[string]struct {
		file, before, after string
		// notReverted is what removing the file leaves, if that is not before.
		notReverted string
	}{
		"below the roles":        {BindingsFile, "resources:\n- a.yaml\n- role.yaml\n- b.yaml\n", "resources:\n- a.yaml\n- role.yaml\n- marker_role_bindings.yaml\n- b.yaml\n", ""},
		"with a comment":         {BindingsFile, "resources:\n  # generated\n  - \"role.yaml\" # by markers\n  - b.yaml\n", "resources:\n  # generated\n  - \"role.yaml\" # by markers\n  - marker_role_bindings.yaml\n  - b.yaml\n", ""},
		"without line break":     {BindingsFile, "resources:\n- role.yaml", "resources:\n- role.yaml\n- marker_role_bindings.yaml\n", "resources:\n- role.yaml\n"},
		"CRLF":                   {BindingsFile, "resources:\r\n- role.yaml\r\n", "resources:\r\n- role.yaml\r\n- marker_role_bindings.yaml\r\n", ""},
		"flow":                   {BindingsFile, "resources: [role.yaml]\n", "", ""},
		"no list":                {BindingsFile, "bases:\n- role.yaml\n", "", ""},
		"invalid":                {NamespacesFile, "resources: [\n", "", ""},
		"new list":               {NamespacesFile, "resources:\n- a.yaml\n", "resources:\n- a.yaml\n" + block, ""},
		"new list, no break":     {NamespacesFile, "resources:\n- a.yaml", "resources:\n- a.yaml\n" + block, "resources:\n- a.yaml\n"},
		"new list, CRLF":         {NamespacesFile, "resources:\r\n- a.yaml\r\n", strings.ReplaceAll("resources:\n- a.yaml\n"+block, "\n", "\r\n"), ""},
		"list of the user":       {NamespacesFile, "transformers:\n- a.yaml\nnamespace: x\n", "transformers:\n- a.yaml\n- marker_role_namespaces.yaml\nnamespace: x\n", ""},
		"text of the user":       {NamespacesFile, "transformers:\n- |-\n  kind: X\n  a: b\n", "transformers:\n- marker_role_namespaces.yaml\n- |-\n  kind: X\n  a: b\n", ""},
		"empty list of the user": {NamespacesFile, "transformers: []\n", "", ""},
		"already listed":         {NamespacesFile, "transformers:\n- marker_role_namespaces.yaml\nnamespace: x\n", "transformers:\n- marker_role_namespaces.yaml\nnamespace: x\n", "namespace: x\n"},
	} {
		got, ok := List([]byte(test.before), test.file, "role.yaml", true)
		if ok != (test.after != "") || string(got) != test.after {
			t.Errorf("%s: add: %v\n%s", name, ok, got)
		}
		if !ok {
			continue
		}
		want := test.before
		if test.notReverted != "" {
			want = test.notReverted
		}
		if again, ok := List(got, test.file, "role.yaml", false); !ok || string(again) != want {
			t.Errorf("%s: remove: %v\n%s", name, ok, again)
		}
	}
	if _, ok := List([]byte("transformers: [marker_role_namespaces.yaml]\n"), NamespacesFile, "", false); ok {
		t.Error("removed an item of a flow list")
	}
}

func TestIsCommentedOut(t *testing.T) {
	for text, want := range map[string]bool{
		"resources:\n#- marker_role_bindings.yaml\n":           true,
		"resources:\r\n  # - marker_role_bindings.yaml\r\n":    true,
		"resources:\n- marker_role_bindings.yaml\n":            false,
		"# see marker_role_bindings.yaml\nresources:\n- a\n":   false,
		"resources:\n#- other_marker_role_bindings.yaml\n":     false,
		"resources:\n- a # marker_role_bindings.yaml beside\n": false,
	} {
		if got := IsCommentedOut([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestRender(t *testing.T) {
	roles := []Role{
		{Kind: "Role", Name: "manager-role", Namespace: "a", Moved: true},
		{Kind: "Role", Name: "manager-role", Namespace: "b", Moved: true},
		{Kind: "Role", Name: "manager-role", Namespace: "system"},
		{Kind: "ClusterRole", Name: "1.5"},
	}
	taken := map[string]bool{"RoleBinding/manager-rolebinding": true, "Role/manager-role-b": true}
	files, err := Render(roles, Account{Name: "default", Namespace: "system"}, func(kind, name string) bool { return taken[kind+"/"+name] })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"name: manager-role-a-rolebinding\n  namespace: a\n", "name: manager-rolebinding-marker\n  namespace: system\n", "name: \"1.5\"\n", "name: 1.5-rolebinding\n"} {
		if !strings.Contains(string(files.Bindings), want) {
			t.Errorf("bindings lack %q:\n%s", want, files.Bindings)
		}
	}
	if !strings.Contains(string(files.Names), "value: manager-role-b-marker\n") || strings.Contains(string(files.Names), "system") {
		t.Errorf("names:\n%s", files.Names)
	}
	if strings.Contains(string(files.Namespaces), "Replacement") { // kustomize sets the namespace of the account default
		t.Errorf("namespaces:\n%s", files.Namespaces)
	}
	if files, err := Render(nil, Account{}, nil); err != nil || files.Bindings != nil || files.Names != nil || files.Namespaces != nil {
		t.Errorf("files without roles: %v", err)
	}
	for role, want := range map[Role]bool{{Name: "a:b.c"}: true, {Name: "a/b"}: false, {Name: ""}: false, {Name: "a", Namespace: "x y"}: false, {Name: "a", Namespace: "kube-system"}: true} {
		if got := CanBind(role); got != want {
			t.Errorf("%+v: %v", role, got)
		}
	}
}
