package refactor

import (
	"testing"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

func renamed() *renamer {
	was := project.Resource{GVK: project.GVK{Group: "cache", Domain: "example.com", Version: "v1", Kind: "Memcached"}, Plural: "memcacheds"}
	is := project.Resource{GVK: project.GVK{Group: "store", Domain: "example.com", Version: "v2", Kind: "Cachet"}, Plural: "cachets"}
	return &renamer{
		Renaming: Renaming{APIs: [][2]project.Resource{{was, is}}, Project: [2]string{"old", "new"}},
		files:    map[string]string{"config/rbac/memcached_viewer_role.yaml": "config/rbac/cachet_viewer_role.yaml"},
	}
}

func TestRenameMarker(t *testing.T) {
	t.Parallel()
	for marker, want := range map[string]string{
		"groupName=cache.example.com": "groupName=store.example.com",
		"groupName=example.com":       "groupName=example.com",
		"kubebuilder:rbac:groups=apps;cache.example.com,resources=memcacheds;memcacheds/status,verbs=get":                                                    "kubebuilder:rbac:groups=apps;store.example.com,resources=cachets;cachets/status,verbs=get",
		"kubebuilder:rbac:groups=apps,resources=memcacheds,verbs=get":                                                                                        "kubebuilder:rbac:groups=apps,resources=memcacheds,verbs=get",
		"kubebuilder:rbac:groups=apps,namespace=old-system,resources=pods,verbs=get":                                                                         "kubebuilder:rbac:groups=apps,namespace=new-system,resources=pods,verbs=get",
		"kubebuilder:resource:path=memcacheds,shortName=mc":                                                                                                  "kubebuilder:resource:path=cachets,shortName=mc",
		"kubebuilder:resource:path=memcached":                                                                                                                "kubebuilder:resource:path=memcached",
		"kubebuilder:webhook:path=/mutate-cache-example-com-v1-memcached,groups=cache.example.com,resources=memcacheds,versions=v1,name=mmemcached-v1.kb.io": "kubebuilder:webhook:path=/mutate-store-example-com-v2-cachet,groups=store.example.com,resources=cachets,versions=v2,name=mcachet-v2.kb.io",
		"kubebuilder:webhook:path=/mine,groups=cache.example.com,resources=memcacheds,versions=v3,name=mine.example.com":                                     "kubebuilder:webhook:path=/mine,groups=store.example.com,resources=cachets,versions=v3,name=mine.example.com",
		"optional": "optional",
	} {
		if got := renamed().renameMarker(marker); got != want {
			t.Errorf("%s\n got %s\nwant %s", marker, got, want)
		}
	}
}

func TestRenameManifest(t *testing.T) {
	t.Parallel()
	for manifest, want := range map[string]string{
		"apiVersion: cache.example.com/v1\nkind: MemcachedList\nitems:\n- {apiVersion: 'cache.example.com/v1', kind: Memcached}\n":         "apiVersion: store.example.com/v2\nkind: CachetList\nitems:\n- {apiVersion: 'store.example.com/v2', kind: Cachet}\n",
		"apiVersion: apps/v1\nkind: Memcached # not ours\n":                                                                                "apiVersion: apps/v1\nkind: Memcached # not ours\n",
		"resources: [memcached_viewer_role.yaml, ./memcached_viewer_role.yaml]\n":                                                          "resources: [cachet_viewer_role.yaml, cachet_viewer_role.yaml]\n",
		"name:   \"memcacheds.cache.example.com\"   # CRD\n":                                                                               "name:   \"cachets.store.example.com\"   # CRD\n",
		"rules:\n- apiGroups: [apps]\n  resources: [memcacheds]\n":                                                                         "rules:\n- apiGroups: [apps]\n  resources: [memcacheds]\n",
		"namespace: old-system\nother: old-systems\n":                                                                                      "namespace: new-system\nother: old-systems\n",
		"owned:\n- kind: Memcached\n  name: memcacheds.cache.example.com\n  version: v1\n  description: A Memcached\n    of memcacheds.\n": "owned:\n- kind: Cachet\n  name: cachets.store.example.com\n  version: v2\n  description: A Cachet of cachets.\n",
		"a: [no YAML\n": "a: [no YAML\n",
		"été: x\n\"é é\": memcacheds.cache.example.com\n": "été: x\n\"é é\": cachets.store.example.com\n",
	} {
		if got := string(renamed().renameManifest("config/rbac/a.yaml", []byte(manifest), nil)); got != want {
			t.Errorf("%s\n got %s\nwant %s", manifest, got, want)
		}
	}
}

// Lines of the scaffold change wherever they stand, and those that mean several things only where it put them.
func TestChangesOf(t *testing.T) {
	t.Parallel()
	pairs := []scaffold.RenderedPair{{Old: "a: x\nname: \"one\"\nb: x\n# c: old\n", New: "a: y\nname: \"two\"\nb: x\n# c: new\n"}}
	for mine, want := range map[string]string{
		"a: x\nname: \"one\"\nb: x\n# c: old\n": "a: y\nname: \"two\"\nb: x\n# c: new\n",
		"mine: 1\r\n  c: old\r\n":               "mine: 1\r\n  c: new\r\n",
		"- name:   one\na: x # mine\n":          "- name:   one\na: x # mine\n",
		"name:   one\n":                         "name: two\n",
	} {
		if got := applyChanges(mine, changesOf(mine, pairs, false)); got != want {
			t.Errorf("%q\n got %q\nwant %q", mine, got, want)
		}
	}
	doubtful := []scaffold.RenderedPair{{Old: "same\nmiddle\nsame\nend\n", New: "one\nmiddle\ntwo\nend\n"}}
	if got := applyChanges("mine\nsame\nmiddle\nsame\nend\n", changesOf("mine\nsame\nmiddle\nsame\nend\n", doubtful, true)); got != "mine\none\nmiddle\ntwo\nend\n" {
		t.Errorf("got %q", got)
	}
	longer := []scaffold.RenderedPair{{Old: "type A struct {\n}\nend\n", New: "type B struct {\n}\n// +more\nend\n"}}
	if got := applyChanges("type A struct {\n}\nend\nmine\n", changesOf("type A struct {\n}\nend\nmine\n", longer, true)); got != "type B struct {\n}\n// +more\nend\nmine\n" {
		t.Errorf("got %q", got)
	}
}

func applyChanges(text string, changes []change) string {
	return string(textdiff.Apply([]byte(text), changeEdits([]byte(text), changes)))
}
