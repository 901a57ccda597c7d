package refactor

import "testing"

func TestRenameRoles(t *testing.T) {
	t.Parallel()
	x := renamed()
	x.Roles = map[string]string{"memcached": "cachet"}
	for text, want := range map[string]string{
		"- kind: Other\n  role: memcached\n  finalizer: {name: example.com/f, role: memcached}\n":          "- kind: Other\n  role: cachet\n  finalizer: {name: example.com/f, role: cachet}\n",
		"- hosts: localhost\n  roles:\n  - memcached\n  - role: memcached\n  - name: memcached\n":          "- hosts: localhost\n  roles:\n  - cachet\n  - role: cachet\n  - name: cachet\n",
		"- import_role: {name: memcached}\n- ansible.builtin.include_role:\n    name: \"memcached\"\n":     "- import_role: {name: cachet}\n- ansible.builtin.include_role:\n    name: \"cachet\"\n",
		"- name: memcached\n  k8s:\n    name: memcached\n  vars: {roles: memcached, image: memcached:1}\n": "- name: memcached\n  k8s:\n    name: memcached\n  vars: {roles: memcached, image: memcached:1}\n",
		"dependencies:\n- memcached\n- other\n":                                                            "dependencies:\n- cachet\n- other\n",
		"- role: /opt/ansible/roles/memcached\n":                                                           "- role: /opt/ansible/roles/memcached\n",
	} {
		if got := string(x.renameManifest("playbooks/a.yml", []byte(text), nil)); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	if text := "roles:\n- memcached\n"; string(renamed().renameManifest("a.yml", []byte(text), nil)) != text {
		t.Error("roles change although none is renamed")
	}
}

func TestRenameVariables(t *testing.T) {
	t.Parallel()
	x := renamed()
	x.Variables = map[string]string{"_cache_example_com_memcached": "_store_example_com_cachet", "_cache_example_com_memcached_spec": "_store_example_com_cachet_spec"}
	for text, want := range map[string]string{
		"{{ _cache_example_com_memcached.metadata.uid }}{{_cache_example_com_memcached_spec['size']}}": "{{ _store_example_com_cachet.metadata.uid }}{{_store_example_com_cachet_spec['size']}}",
		"my_cache_example_com_memcached, _cache_example_com_memcacheds":                                "my_cache_example_com_memcached, _cache_example_com_memcacheds",
		"\xff _cache_example_com_memcached":                                                            "\xff _cache_example_com_memcached",
	} {
		if got := string(x.renameVariables([]byte(text))); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
