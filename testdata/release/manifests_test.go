package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func checkSums(t *testing.T, dir string) {
	sums := map[string]string{}
	for line := range strings.Lines(string(read(t, dir, "SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		sums[name] = sum
	}
	for _, name := range names(t, dir) {
		if strings.HasPrefix(name, "SHA256SUMS") {
			continue
		}
		if sums[name] != sumOf(t, dir, name) {
			t.Errorf("%s: got the sum %q", name, sums[name])
		}
		delete(sums, name)
	}
	if len(sums) > 0 {
		t.Errorf("sums of other files: %v", sums)
	}
}

func sumOf(t *testing.T, dir, name string) string {
	t.Helper()
	sum := sha256.Sum256(read(t, dir, name))
	return hex.EncodeToString(sum[:])
}

func checkSignature(t *testing.T, dir, key string) {
	c := exec.Command("go", "run", minisign, "-V", "-Q", "-p", key+".pub", "-m", filepath.Join(dir, "SHA256SUMS"))
	if out, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "Trusted comment: checksums of Operon v1.2.3-rc.1" {
		t.Errorf("minisign: %v\n%s", err, out)
	}
}

func checkSBOM(t *testing.T, dir string) {
	var doc struct {
		CreationInfo struct{ Created string }
		Packages     []struct {
			Name, SPDXID, VersionInfo string
			Checksums                 []struct{ ChecksumValue string }
			ExternalRefs              []struct{ ReferenceLocator string }
		}
		Relationships []struct{ SPDXElementID, RelationshipType, RelatedSPDXElement string }
	}
	if err := json.Unmarshal(read(t, dir, "operon_1.2.3-rc.1_linux_amd64.spdx.json"), &doc); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, p := range doc.Packages {
		fmt.Fprintln(&got, p.SPDXID, p.Name, p.VersionInfo)
	}
	for _, r := range doc.Relationships {
		fmt.Fprintln(&got, r.SPDXElementID, r.RelationshipType, r.RelatedSPDXElement)
	}
	want := `SPDXRef-Archive operon v1.2.3-rc.1
SPDXRef-Program-operon-runtime operon-runtime v1.2.3-rc.1
SPDXRef-Program-operon operon v1.2.3-rc.1
SPDXRef-Module-stdlib stdlib ` + strings.TrimPrefix(goVersion(t), "go") + `
SPDXRef-DOCUMENT DESCRIBES SPDXRef-Archive
SPDXRef-Archive CONTAINS SPDXRef-Program-operon
SPDXRef-Program-operon CONTAINS SPDXRef-Module-stdlib
SPDXRef-Archive CONTAINS SPDXRef-Program-operon-runtime
SPDXRef-Program-operon-runtime CONTAINS SPDXRef-Module-stdlib
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
	if doc.CreationInfo.Created != "2026-01-02T03:04:05Z" || doc.Packages[0].Checksums[0].ChecksumValue != sumOf(t, dir, "operon_1.2.3-rc.1_linux_amd64.tar.gz") {
		t.Errorf("got %+v, %+v", doc.CreationInfo, doc.Packages[0])
	}
	if got := doc.Packages[1].ExternalRefs[0].ReferenceLocator; got != "pkg:golang/github.com/operon-sdk/operon@v1.2.3-rc.1" {
		t.Errorf("got the package URL %s", got)
	}
}

func goVersion(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func checkManifests(t *testing.T, dir string) {
	formula := string(read(t, dir, "operon.rb"))
	for _, want := range []string{
		"  version \"1.2.3-rc.1\"\n",
		"  on_linux do\n    on_intel do\n      url \"https://example.com/v1.2.3-rc.1/operon_1.2.3-rc.1_linux_amd64.tar.gz\"\n      sha256 \"" +
			sumOf(t, dir, "operon_1.2.3-rc.1_linux_amd64.tar.gz") + "\"\n    end\n  end\n",
		"  on_macos do\n    on_arm do\n      url \"https://example.com/v1.2.3-rc.1/operon_1.2.3-rc.1_darwin_arm64.tar.gz\"\n",
	} {
		if !strings.Contains(formula, want) {
			t.Errorf("the formula doesn't contain\n%s\nbut is\n%s", want, formula)
		}
	}
	if strings.Contains(formula, "windows") {
		t.Errorf("the formula is for Windows:\n%s", formula)
	}

	var krew struct {
		Spec struct {
			Version   string
			Platforms []struct {
				Selector         struct{ MatchLabels struct{ OS, Arch string } }
				URI, SHA256, Bin string
				Files            []struct{ From, To string }
			}
		}
	}
	if err := yaml.Unmarshal(read(t, dir, "operon.yaml"), &krew); err != nil {
		t.Fatal(err)
	}
	if krew.Spec.Version != "v1.2.3-rc.1" || len(krew.Spec.Platforms) != 3 {
		t.Fatalf("got %+v", krew.Spec)
	}
	windows := krew.Spec.Platforms[2]
	if windows.Selector.MatchLabels.OS != "windows" || windows.URI != "https://example.com/v1.2.3-rc.1/operon_1.2.3-rc.1_windows_amd64.zip" ||
		windows.SHA256 != sumOf(t, dir, "operon_1.2.3-rc.1_windows_amd64.zip") || windows.Bin != "operon.exe" ||
		len(windows.Files) != 3 || windows.Files[1].From != "operon_1.2.3-rc.1_windows_amd64/operon-runtime.exe" {
		t.Errorf("got %+v", windows)
	}
}
