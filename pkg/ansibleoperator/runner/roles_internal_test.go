package runner

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMaxArtifacts(t *testing.T) {
	t.Parallel()
	playbook := filepath.Join(t.TempDir(), "site.yml")
	if err := os.WriteFile(playbook, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := &Runner{env: &environment{}}
	for artifacts, want := range map[int]string{0: "20", 3: "3", -1: "0"} {
		argv, err := r.command("dir", "ident", Request{Playbook: playbook, MaxArtifacts: artifacts})
		if i := slices.Index(argv, "--rotate-artifacts"); err != nil || i < 0 || argv[i+1] != want {
			t.Errorf("%d artifacts: %q, %v, want %s", artifacts, argv, err, want)
		}
	}
}
