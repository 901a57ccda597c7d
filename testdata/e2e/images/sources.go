package images

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ansibleRelease is the release of Debian with the packages of the base image. Its Ansible suits the collections that new projects require.
const ansibleRelease = "trixie"

// olderReleases are the releases of machines whose package sources have ansibleRelease, too.
func olderReleases() []string { return []string{"bullseye", "bookworm"} }

// sourcesOf returns the package sources of ansibleRelease in files: those of this machine, which has the release codename. It returns "" if
// this machine is not an older Debian, so that its own sources are used.
func sourcesOf(id, codename string, files map[string]string) (list, stanzas string) {
	if id != "debian" || !slices.Contains(olderReleases(), codename) {
		return "", ""
	}
	ofRelease := func(suite string) bool {
		return suite == codename || strings.HasPrefix(suite, codename+"-")
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		if filepath.Ext(name) == ".list" {
			for line := range strings.Lines(text) {
				if slices.ContainsFunc(strings.Fields(line), ofRelease) && strings.HasPrefix(line, "deb ") {
					list += strings.ReplaceAll(line, codename, ansibleRelease)
				}
			}
			continue
		}
		for stanza := range strings.SplitSeq(text, "\n\n") {
			for line := range strings.Lines(stanza) {
				if suites, ok := strings.CutPrefix(line, "Suites:"); ok && slices.ContainsFunc(strings.Fields(suites), ofRelease) {
					stanzas += strings.ReplaceAll(strings.TrimSpace(stanza), codename, ansibleRelease) + "\n\n"
				}
			}
		}
	}
	return list, stanzas
}

// machineSources returns sourcesOf this machine.
func machineSources() (list, stanzas string, err error) {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", "", err
	}
	values := map[string]string{}
	for line := range strings.Lines(string(release)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = strings.Trim(value, `"`)
	}
	names := []string{"/etc/apt/sources.list"}
	for _, pattern := range []string{"/etc/apt/sources.list.d/*.list", "/etc/apt/sources.list.d/*.sources"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", "", err
		}
		names = append(names, found...)
	}
	files := map[string]string{}
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil { // sources.list need not exist
			files[name] = string(data)
		}
	}
	list, stanzas = sourcesOf(values["ID"], values["VERSION_CODENAME"], files)
	return list, stanzas, nil
}
