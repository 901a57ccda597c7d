package migrate

import (
	"math/big"
	"slices"
	"strings"
	"testing"
)

// TestFormsOfWords looks for facts of a project whose names are words of the scaffold among those that were recorded with other names.
func TestFormsOfWords(t *testing.T) {
	t.Parallel()
	recorded := Names{
		Project: "voyage", Domain: "harbor-master.test", Repo: "git.test/admiralty/voyage",
		Resources: []Resource{{Group: "fleet", Version: "v1", Kind: "Frigate", Plural: "frigates"}},
	}
	// In the texts, P, D, R, G, K, k and s are the names of the project.
	for _, text := range []string{
		"const namespace = \"{P}-system\" // the namespace of the project",
		"the root of the project\nname: {P}\nnamespace: {P}-system",
		"# {P}\nDescribe this project. make docker-build IMG=<registry>/{P}:tag\nClone the project. dist/install.yaml of {P}",
		"Starting {P} integration test suite, a test of the controller",
		"serviceAccountName = \"{P}-controller-manager\"\ncontrol-plane=controller-manager",
		"(&controller.{K}Reconciler{}).SetupWithManager(mgr) // the controller of {K}",
		"func Setup{K}WebhookWithManager(mgr ctrl.Manager) // the webhook of {k}",
		"- {G}_v1_{k}.yaml\n- ../config/samples\n- bases/{G}.{D}_{s}.yaml",
		"repo: {R}\nthe operator of {D} in the cluster svc.cluster.local",
	} {
		fill := func(n Names) string {
			r := n.Resources[0]
			return strings.NewReplacer("{P}", n.Project, "{D}", n.Domain, "{R}", n.Repo, "{G}", r.Group, "{K}", r.Kind, "{k}", strings.ToLower(r.Kind),
				"{s}", r.Plural).Replace(text)
		}
		facts := map[uint64]*big.Int{}
		for _, hash := range newNormalizer(recorded).recorded(fill(recorded)) {
			facts[hash] = big.NewInt(1)
		}
		for _, word := range []string{"project", "manager", "controller", "operator", "config", "main", "test", "webhook", "api", "local", "cache"} {
			kind := strings.ToUpper(word[:1]) + word[1:]
			for _, names := range []Names{
				{Project: word, Domain: "example.com", Repo: "example.com/" + word, Resources: []Resource{{"cache", "v1", "Memcached", "memcacheds"}}},
				{Project: "boat", Domain: "example.com", Repo: "example.com/boat", Resources: []Resource{{word, "v1", kind, word + "s"}}},
				{Project: word, Domain: "local", Repo: word, Resources: []Resource{{word, "v1", "Memcached", "memcacheds"}}},
			} {
				forms := newNormalizer(names).formsIn(facts, fill(names))
				if !slices.ContainsFunc(forms, func(h uint64) bool { return facts[h] != nil }) {
					t.Errorf("%+v: unknown in the %d forms of\n%s", names, len(forms), fill(names))
				}
			}
		}
	}
}
