package scaffold

import (
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestSampleName names the sample of a new version differently from the other samples of the kind.
func TestSampleName(t *testing.T) {
	t.Parallel()
	const plain, versioned = "redis-sample", "redis-v2-sample"
	sample := func(name string) string { return "kind: Redis\nmetadata:\n  name: " + name + "\nspec: {}\n" }
	for name, row := range map[string]struct {
		files map[string]string
		want  string
	}{
		"the only version":        {nil, plain},
		"another version":         {map[string]string{"cache_v1_redis.yaml": sample(plain)}, versioned},
		"with carriage returns":   {map[string]string{"cache_v1_redis.yaml": "metadata:\r\n  name: redis-sample\r\n"}, versioned},
		"with a name of its own":  {map[string]string{"cache_v1_redis.yaml": sample("mine")}, plain},
		"another kind and group":  {map[string]string{"cache_v1_myredis.yaml": sample(plain), "store_v1_redis.yaml": sample(plain)}, plain},
		"the other one was first": {map[string]string{"cache_v2_redis.yaml": sample(plain), "cache_v1_redis.yaml": sample("redis-v1-sample")}, plain},
		"the other one is gone":   {map[string]string{"cache_v2_redis.yaml": sample(versioned)}, versioned},
		"both have the same name": {map[string]string{"cache_v2_redis.yaml": sample(plain), "cache_v1_redis.yaml": sample(plain)}, plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := worktree.NewTree(afero.NewMemMapFs(), "/")
			for file, text := range row.files {
				tree.WriteFile("config/samples/"+file, []byte(text), worktree.FileMode)
			}
			data := Data{Resource: Resource{Group: "cache", Version: "v2", Kind: "Redis"}}
			if err := setSampleName(tree, &data); err != nil || data.Resource.SampleName != row.want {
				t.Errorf("got %q, %v, want %q", data.Resource.SampleName, err, row.want)
			}
		})
	}
}
