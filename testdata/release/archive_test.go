package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// entries are the files that archives for Linux contain, as tar -tv lists them.
const entries = `-rw-r--r-- operon_1.2.3-rc.1_linux_amd64/CHANGELOG.md
-rw-r--r-- operon_1.2.3-rc.1_linux_amd64/LICENSE
-rw-r--r-- operon_1.2.3-rc.1_linux_amd64/README.md
-rw-r--r-- operon_1.2.3-rc.1_linux_amd64/completions/_operon
-rw-r--r-- operon_1.2.3-rc.1_linux_amd64/completions/operon.bash
-rw-r--r-- operon_1.2.3-rc.1_linux_amd64/completions/operon.fish
-rw-r--r-- operon_1.2.3-rc.1_linux_amd64/completions/operon.ps1
-rw-r--r-- operon_1.2.3-rc.1_linux_amd64/docs/ci.md
-rw-r--r-- operon_1.2.3-rc.1_linux_amd64/man/man1/operon-version.1
-rw-r--r-- operon_1.2.3-rc.1_linux_amd64/man/man1/operon.1
-rwxr-xr-x operon_1.2.3-rc.1_linux_amd64/operon
-rwxr-xr-x operon_1.2.3-rc.1_linux_amd64/operon-runtime
`

var date = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func checkArchives(t *testing.T, dir string) {
	compressed, err := gzip.NewReader(bytes.NewReader(read(t, dir, "operon_1.2.3-rc.1_linux_amd64.tar.gz")))
	if err != nil {
		t.Fatal(err)
	}
	if compressed.Name != "" || !compressed.ModTime.IsZero() {
		t.Errorf("the archive holds the name %q and the time %s", compressed.Name, compressed.ModTime)
	}
	var listed strings.Builder
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&listed, header.FileInfo().Mode(), header.Name)
		if header.Uid != 0 || header.Gid != 0 || header.Uname != "root" || !header.ModTime.Equal(date) {
			t.Errorf("%s: owner %d %s, time %s", header.Name, header.Uid, header.Uname, header.ModTime)
		}
		if strings.HasSuffix(header.Name, "operon.1") {
			if page, err := io.ReadAll(archive); err != nil || string(page) != "operon 1767323045\n" {
				t.Errorf("operon.1: %q, %v", page, err)
			}
		}
	}
	if listed.String() != entries {
		t.Errorf("tar.gz: got\n%s\nwant\n%s", &listed, entries)
	}

	content := read(t, dir, "operon_1.2.3-rc.1_windows_amd64.zip")
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	listed.Reset()
	for _, f := range archive.File {
		fmt.Fprintln(&listed, f.Mode(), f.Name)
		if !f.Modified.Equal(date) {
			t.Errorf("%s: time %s", f.Name, f.Modified)
		}
	}
	want := strings.NewReplacer("linux", "windows", "/operon\n", "/operon.exe\n", "-runtime\n", "-runtime.exe\n").Replace(entries)
	lines := strings.SplitAfter(want, "\n") // operon-runtime.exe comes before operon.exe
	lines[10], lines[11] = lines[11], lines[10]
	if want = strings.Join(lines, ""); listed.String() != want {
		t.Errorf("zip: got\n%s\nwant\n%s", &listed, want)
	}
}

func checkImage(t *testing.T, dir string) {
	var listed []string
	for archive := tar.NewReader(bytes.NewReader(read(t, dir, "helm-operator-image_1.2.3-rc.1.tar"))); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, header.Name)
	}
	if got := strings.Join(listed, " "); got != "blobs/sha256/1 index.json oci-layout" {
		t.Errorf("got the files %s", got)
	}
}

// packaged are the files that both packages contain.
var packaged = []string{
	"/usr/bin/operon", "/usr/bin/operon-runtime", "/usr/share/bash-completion/completions/operon", "/usr/share/doc/operon/README.md",
	"/usr/share/fish/vendor_completions.d/operon.fish", "/usr/share/man/man1/operon-version.1.gz", "/usr/share/man/man1/operon.1.gz",
}

// checkPackages lists the packages with the programs that this machine has.
func checkPackages(t *testing.T, dir string) {
	for _, test := range []struct {
		format, program string
		args            []string
		want            []string
	}{
		{"deb", "dpkg-deb", []string{"--info"}, []string{"Package: operon\n", "Version: 1.2.3~rc.1\n", "Architecture: amd64\n", "Homepage: " + homepage + "\n"}},
		{"deb", "dpkg-deb", []string{"--contents"}, append([]string{"-rwxr-xr-x root/root", "/usr/share/doc/operon/copyright", "/usr/share/zsh/vendor-completions/_operon"}, packaged...)},
		{"rpm", "rpm", []string{"-qpi"}, []string{"Name        : operon\n", "Version     : 1.2.3~rc.1\n", "Architecture: x86_64\n", "License     : Apache-2.0\n", "Build Host  : localhost\n"}},
		{"rpm", "rpm", []string{"-qplv"}, append([]string{"-rwxr-xr-x    1 root     root", "/usr/share/licenses/operon/LICENSE", "/usr/share/zsh/site-functions/_operon"}, packaged...)},
	} {
		if _, err := exec.LookPath(test.program); err != nil {
			t.Logf("%s isn't installed; the %s package is only compared", test.program, test.format)
			continue
		}
		c := exec.Command(test.program, append(test.args, filepath.Join(dir, "operon_1.2.3-rc.1_linux_amd64."+test.format))...)
		c.Env = append(os.Environ(), "LC_ALL=C")
		out, err := c.Output()
		if err != nil {
			t.Errorf("%s: %v", c, err)
		}
		for _, want := range test.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s %s prints no %q:\n%s", test.program, test.args[0], want, out)
			}
		}
	}
}
