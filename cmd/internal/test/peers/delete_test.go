//go:build unix

package peers

import (
	goformat "go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestDeleteUnedited deletes what kubebuilder created, after each of its commands, and compares the project with the one before the
// command. The files of an unknown release have texts that no release writes, in a git repository.
func TestDeleteUnedited(t *testing.T) {
	t.Parallel()
	peer := clitest.BuildPeer(t, "bench/peers", "sigs.k8s.io/kubebuilder/v4")
	older := clitest.BuildPeer(t, "peers/operator-sdk-1.42", "sigs.k8s.io/kubebuilder/v4") // 4.6
	// The names are others than those of testdata/peers/record.
	const (
		cutter  = " --group navy --version v1 --kind Cutter"
		cutter2 = " --group navy --version v2 --kind Cutter"
		barge   = " --group navy --version v1 --kind Barge"
		api     = " --resource --controller"
		both    = " --defaulting --programmatic-validation"
	)
	for name, commands := range map[string][]string{
		"one group": {
			"init",
			"create api" + cutter + api,
			"create webhook" + cutter + both,
			"create api" + cutter2 + " --resource --controller=false",
			"create webhook" + cutter + " --conversion --spoke v2",
			"create api" + barge + api + " --namespaced=false",
			"create webhook" + barge + " --defaulting --defaulting-path /mutate-it",
			"create api --group apps --version v1 --kind Deployment --resource=false --controller",
			"create webhook --group core --version v1 --kind Pod --programmatic-validation",
			"create api" + barge + " --resource=false --controller --controller-name barge-watch",
		},
		"groups": {
			"init --multigroup",
			"create api" + cutter + api,
			"create webhook" + cutter + " --defaulting",
			"create api --group pier --version v1beta1 --kind Winch" + api,
			"create webhook --group pier --version v1beta1 --kind Winch" + both,
			"create webhook" + cutter + " --programmatic-validation",
		},
		"namespace": {
			"init --namespaced",
			"create api" + cutter + api,
			"create webhook" + cutter + " --programmatic-validation",
		},
		"conversion first": {
			"init",
			"create api" + cutter + api,
			"create api" + cutter2 + " --resource --controller=false",
			"create webhook" + cutter + " --conversion --spoke v2",
			"create webhook" + cutter + " --defaulting",
		},
		"images": {
			"init",
			"create api" + cutter + " --plugins deploy-image/v1-alpha --manifests=false --image memcached:1.6.26-alpine3.19 --image-container-port 11211",
			"create api" + barge + " --plugins deploy-image/v1-alpha --manifests=false --image busybox:1.36.1",
			"create webhook" + cutter + " --programmatic-validation",
		},
		"types first": {
			"init",
			"create api" + cutter + " --resource --controller=false",
			"create api" + barge + api + " --ssa",
		},
		"an older release": {
			"init",
			"create api" + cutter + api,
			"create webhook" + cutter + both,
			"create api" + cutter2 + " --resource --controller=false",
			"create api" + barge + " --plugins deploy-image/v1-alpha --manifests=false --image busybox:1.36.1",
			"create webhook --group core --version v1 --kind Pod --programmatic-validation",
		},
		"names that are words of scaffolds": {
			"init --multigroup --namespaced --domain io --project-name manager --repo example.com/webhook",
			"create api --group config --version v1 --kind Config --plural configz" + api,
			"create webhook --group config --version v1 --kind Config" + both,
			"create api --group web-app --version v1alpha1 --kind Webhook --plugins deploy-image/v1-alpha --manifests=false --image busybox:1.36.1",
			"create webhook --group web-app --version v1alpha1 --kind Webhook --defaulting",
		},
	} {
		peer, unknown := peer, []bool{false, true}
		if name == "an older release" {
			peer, unknown = older, unknown[:1]
		}
		for _, unknown := range unknown {
			release := "known release"
			if unknown {
				release = "unknown release"
			}
			t.Run(name+" of a "+release, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "cruise")
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				for _, command := range commands {
					before := clitest.CopyTree(t, dir)
					args := strings.Fields(command)
					if args[0] == "init" {
						args = slices.Insert(args, 1, strings.Fields("--domain example.com --repo example.com/cruise --project-name cruise --fetch-deps=false --skip-go-version-check")...)
					} else {
						args = append(args, "--make=false")
					}
					clitest.RunPeer(t, peer, dir, args...)
					if unknown {
						changeTexts(t, before, dir)
						commit(t, dir)
					}
					if args[0] == "init" {
						continue
					}
					deleted := clitest.CopyTree(t, dir)
					clitest.MustRun(t, deleted, append(strings.Fields(deletion(command)), "--make=false")...)
					// Requirements of removed kinds remain until go mod tidy.
					for _, tree := range []string{before, deleted} {
						for _, name := range []string{"go.mod", "go.sum", ".git"} {
							if err := os.RemoveAll(filepath.Join(tree, name)); err != nil {
								t.Fatal(err)
							}
						}
					}
					for _, tree := range []string{before, deleted} {
						format(t, filepath.Join(tree, "cmd", "main.go")) // kubebuilder does so with a later command
						// One of several versions must be the stored one: kubebuilder marks it with the conversion.
						types := filepath.Join(tree, "api", "v1", "cutter_types.go")
						if _, err := os.Stat(types); err == nil && strings.Contains(command, "--conversion") {
							clitest.WriteFile(t, types, strings.Replace(clitest.ReadFile(t, types), "// +kubebuilder:storageversion\n", "", 1))
						}
					}
					clitest.CompareTrees(t, before, deleted)
					if t.Failed() {
						t.Fatalf("after %s", command)
					}
				}
			})
		}
	}
}

// deletion returns the command that reverts a create command.
func deletion(command string) string {
	command = strings.Replace(command, "create", "delete", 1)
	kept := "group|version|kind|controller-name"
	if strings.HasPrefix(command, "delete webhook") {
		kept += "|defaulting|programmatic-validation|conversion|spoke"
	}
	flags := regexp.MustCompile(`--(`+kept+`)( [^-]\S*|\b$| )`).FindAllString(command, -1)
	return strings.Join(slices.Insert(flags, 0, strings.Join(strings.Fields(command)[:2], " ")), " ")
}

// changeTexts changes comments in files that a command added or changed, so that they match no release.
func changeTexts(t *testing.T, before, after string) {
	t.Helper()
	old, files := clitest.ReadTree(t, before), clitest.ReadTree(t, after)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		switch {
		case name == "PROJECT":
			text = strings.Replace(text, "cliVersion: 4.16.0", "cliVersion: 4.99.0", 1)
		case old[name] == text, filepath.Ext(name) != ".go" && filepath.Ext(name) != ".yaml", filepath.Base(name) == "kustomization.yaml":
			continue
		default:
			comment, lines := regexp.MustCompile(`^(\s*(//|#)) ([a-zA-Z])`), strings.Split(text, "\n")
			for i, line := range lines {
				if !strings.Contains(old[name], line+"\n") && !strings.Contains(line, "nolint") {
					lines[i] = comment.ReplaceAllString(line, "$1 As of this release, $3")
				}
			}
			text = strings.Join(lines, "\n")
		}
		clitest.WriteFile(t, filepath.Join(after, name), text)
	}
}

func format(t *testing.T, name string) {
	t.Helper()
	text, err := goformat.Source([]byte(clitest.ReadFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, name, string(text))
}

// commit commits all files of a project.
func commit(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		git(t, dir, "init", "--quiet")
	}
	git(t, dir, "add", "--all")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "a step")
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
