package ansibletool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVendorCache checks when a result of the cache is used. cmd/internal/test/image runs the real ansible-galaxy.
func TestVendorCache(t *testing.T) {
	t.Parallel()
	root, cache := t.TempDir(), filepath.Join(t.TempDir(), "new")
	if err := os.WriteFile(filepath.Join(root, "a.tar.gz"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	calls, content := 0, "1"
	v := &Vendor{CacheDir: cache, Run: func(_ context.Context, dir string, variables []string, _ io.Writer, args ...string) error {
		calls++
		to := args[5]
		if dir != root || args[4] != "-p" || variables[0] != "ANSIBLE_COLLECTIONS_PATH="+to {
			t.Errorf("got %s %q %q", dir, variables, args)
		}
		for name, text := range map[string]string{"example/util/README.md": content, "example.util-1.0.0.info/GALAXY.yml": fmt.Sprint(calls)} {
			file := filepath.Join(to, CollectionsDir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				return err
			}
		}
		return nil
	}}
	resolve := func(requirements string) string {
		t.Helper()
		dir, err := v.Collections(t.Context(), root, RequirementsFile, []byte("collections:\n"+requirements))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, CollectionsDir, "example", "util", "README.md")); err != nil {
			t.Fatal(err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, CollectionsDir, "*.info")); len(left) > 0 || err != nil {
			t.Errorf("%q, %v", left, err)
		}
		return dir
	}
	for _, c := range []struct {
		requirements string
		calls        int
	}{
		{"- example.util:1.0.0\n", 1},
		{"- {name: example.util, version: ==1.0.0, type: galaxy}\n", 1},
		{"- {name: a.tar.gz, type: file}\n", 1},
		{"- {name: git+https://example.com/x.git, type: git, version: 0123456789012345678901234567890123456789}\n", 1},
		{"- example.util\n", 2},
		{"- {name: example.util, version: '>=1.0.0'}\n", 2},
		{"- {name: example.util, version: '*'}\n", 2},
		{"- https://example.com/x.tar.gz\n", 2},
		{"- {name: https://example.com/x.git, type: git, version: main}\n", 2},
	} {
		calls = 0
		first := resolve(c.requirements)
		second := resolve(c.requirements)
		if calls != c.calls || first != second {
			t.Errorf("%s: %d calls, %s and %s", c.requirements, calls, first, second)
		}
		v.Offline = true
		if resolve(c.requirements) != first || calls != c.calls {
			t.Errorf("%s: not in the cache", c.requirements)
		}
		v.Offline = false
	}

	// A range may have another result, which replaces the old one.
	content, calls = "2", 0
	next := resolve("- example.util\n")
	v.Offline = true
	if resolve("- example.util\n") != next || resolve("- example.util:1.0.0\n") == next {
		t.Error("the results of a range and of a version are the same")
	}
	v.Offline = false
	for i := range maxVendored {
		content = fmt.Sprint(i)
		resolve(fmt.Sprintf("- example.util:2.0.%d\n", i))
	}
	entries, err := os.ReadDir(cache)
	if err != nil || len(entries) != 2*maxVendored {
		t.Errorf("the cache has %d entries, %v", len(entries), err)
	}
}

func TestVendorErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		output, want string
		offline      bool
	}{
		{"Starting\nERROR! Failed to\n  find it\n", "ansible-galaxy: Failed to find it", false},
		{"", "ansible-galaxy: exit status 1", false},
		{"[WARNING]: x\nERROR! <urlopen error [Errno -2]>\n", "ansible-galaxy: <urlopen error [Errno -2]>; check the network and the servers in your ansible.cfg, or add the collections to the project in collections/ansible_collections", false},
		{"ERROR! Failed to resolve: Could not satisfy the following requirements:\n* a.b:*", "ansible-galaxy: Failed to resolve: Could not satisfy the following requirements: * a.b:*; they are not in the cache, so run the command once without --offline", true},
	} {
		v := &Vendor{CacheDir: t.TempDir(), Offline: c.offline, Run: func(_ context.Context, _ string, _ []string, out io.Writer, args ...string) error {
			if strings.Contains(strings.Join(args, " "), "--offline") != c.offline {
				t.Errorf("got %q", args)
			}
			_, _ = io.WriteString(out, c.output)
			return errors.New("exit status 1")
		}}
		if _, err := v.Collections(t.Context(), t.TempDir(), RequirementsFile, nil); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestVendorConfig expects ansible-galaxy to have the settings of the user, never the ansible.cfg of the project.
func TestVendorConfig(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "ansible.cfg"), []byte("[galaxy]\nserver = https://127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var config, content string
	v := &Vendor{CacheDir: t.TempDir(), Run: func(_ context.Context, _ string, variables []string, _ io.Writer, args ...string) error {
		for _, variable := range variables {
			if value, ok := strings.CutPrefix(variable, "ANSIBLE_CONFIG="); ok {
				config = value
			}
		}
		data, err := os.ReadFile(config)
		content = string(data)
		return errors.Join(err, os.MkdirAll(filepath.Join(args[5], CollectionsDir), 0o755))
	}}
	if _, err := v.Collections(t.Context(), root, RequirementsFile, []byte("collections:\n- example.util\n")); err != nil || content != "" || filepath.Ext(config) != ".cfg" {
		t.Errorf("the settings are %q of %q, %v", content, config, err)
	}
	v.Config = filepath.Join(t.TempDir(), "my.cfg")
	if err := os.WriteFile(v.Config, []byte("[galaxy]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Collections(t.Context(), root, RequirementsFile, []byte("collections:\n- example.util\n")); err != nil || content != "[galaxy]\n" {
		t.Errorf("the settings are %q of %q, %v", content, config, err)
	}
}
