// Release writes the files of a release of Operon: for each platform an archive with both programs, manual pages and shell completions, and an
// SPDX document; for most platforms a control plane; for Linux also a deb and an rpm package; the base images of Helm and Ansible operators; a
// Homebrew formula, a Krew manifest, and the checksums of all of them.
//
//	make release VERSION=v1.2.3
//	make release VERSION=v1.2.3 PLATFORMS='linux/amd64 windows/amd64' SIGNING_KEY=minisign.key
//
// # Reproducible
//
// The same commit, version and Go release make the same bytes, on any machine: archives hold their files in a fixed order, owned by root and with the
// time of the commit. SOURCE_DATE_EPOCH overrides that time.
//
// # Control planes
//
// The control plane that "run local" and tests start is built from source for each platform, and archived. Each operon is linked with the URL
// and the digest of its platform's archive, so that it needs to trust neither the server nor a mirror.
//
// # Programs from other modules
//
// nfpm writes the packages and minisign signs the checksums. Both are built from their modules with "go install", at the
// versions in tools.go, so that Operon's go.mod doesn't have to require them.
//
// # Signatures
//
// With a key, SHA256SUMS.minisig is the signature of the checksums. The variable MINISIGN_PASSWORD holds the password of the key if it has one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := parse(os.Args[1:], os.Getenv)
	if err == nil {
		err = r.write(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(1)
	}
}

// parse returns the release that arguments and environment describe.
func parse(args []string, getenv func(string) string) (*release, error) {
	flags := flag.NewFlagSet("release", flag.ExitOnError)
	r := &release{source: ".", log: os.Stdout, password: getenv("MINISIGN_PASSWORD"), environ: os.Environ(), pack: controlplane.Pack}
	flags.StringVar(&r.version, "version", "", "version of the release, such as v1.2.3")
	date := flags.String("date", "", "time of the commit, as in 2026-01-02T03:04:05Z; SOURCE_DATE_EPOCH overrides it")
	platforms := flags.String("platforms", "", "platforms, such as 'linux/amd64 darwin/arm64' (default: all)")
	ldflags := flags.String("ldflags", "", "linker flags of both programs")
	flags.StringVar(&r.baseURL, "base-url", "", "URL of the directory that the files are downloaded from (default: the release on GitHub)")
	images := flags.String("images", "", "names of base images, such as 'helm-operator ansible-operator', which are OCI layouts in bin/NAME-image")
	flags.StringVar(&r.key, "key", "", "file with the minisign key that signs the checksums; nothing is signed without one")
	flags.StringVar(&r.out, "out", filepath.Join("bin", "release"), "directory to write; it is replaced")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%q: takes no arguments, only flags", flags.Arg(0))
	}
	if semver.Canonical(r.version) != r.version || r.version == "" {
		return nil, fmt.Errorf("version %q: must be a semantic version such as v1.2.3; pass VERSION=v1.2.3 to make", r.version)
	}
	r.images = strings.Fields(*images)
	var err error
	if r.platforms, err = parsePlatforms(*platforms); err != nil {
		return nil, err
	}
	if r.date, err = parseDate(*date, getenv("SOURCE_DATE_EPOCH")); err != nil {
		return nil, err
	}
	if r.baseURL == "" {
		r.baseURL = homepage + "/releases/download/" + r.version
	}
	r.compile = func(ctx context.Context, p platform, added, pkg, output string) error {
		return goBuild(ctx, r.source, p, *ldflags+" "+added, pkg, output)
	}
	return r, nil
}

// oldest is the first year of a file's time in zip archives.
const oldest = 1980

func parseDate(date, epoch string) (time.Time, error) {
	var at time.Time
	switch {
	case epoch != "":
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return at, fmt.Errorf("SOURCE_DATE_EPOCH %q: must be a number of seconds since 1970", epoch)
		}
		at = time.Unix(seconds, 0)
	case date == "":
		return at, errors.New("the time of the commit is unknown outside a git clone; set SOURCE_DATE_EPOCH to it, in seconds since 1970")
	default:
		var err error
		if at, err = time.Parse(time.RFC3339, date); err != nil {
			return at, fmt.Errorf("date %q: must have the form 2026-01-02T03:04:05Z", date)
		}
	}
	if at.UTC().Year() < oldest {
		return at, fmt.Errorf("date %s: must be %d or later, because zip archives can't hold older times", at.UTC().Format(time.DateOnly), oldest)
	}
	return at.UTC(), nil
}
