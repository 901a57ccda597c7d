package olm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// TestInstallChecksums verifies that downloaded manifests are not installed when they differ from the known or given
// ones, and that a warning states where they are not verified.
func TestInstallChecksums(t *testing.T) {
	t.Parallel()
	release, err := olm.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, objects := range map[string][]*kube.Object{"crds.yaml": release.CRDs[:1], "olm.yaml": release.Objects} {
		for _, o := range objects {
			text, err := json.Marshal(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			files[name] += string(text) + "\n---\n"
		}
	}
	sum := func(name string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(files[name]))) }
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, files[path.Base(r.URL.Path)])
	}))
	t.Cleanup(server.Close)
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.ServerName = "example.com"
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	install := func(args ...string) (code int, out, errOut string) {
		var o, e bytes.Buffer
		env := &cmd.Env{In: strings.NewReader(""), Out: &o, Err: &e, Dir: t.TempDir(), FS: afero.NewOsFs(), Now: time.Now, HTTP: transport}
		code = cmd.Main(t.Context(), env, append([]string{"operon", "olm", "install", "--dry-run"}, args...))
		return code, o.String(), e.String()
	}

	pinned := "crds.yaml=" + sum("crds.yaml") + ",olm.yaml=" + sum("olm.yaml")
	code, out, errOut := install("--version", "0.45.0")
	if code != 0 || !strings.Contains(out, "name: olm-operator\n") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	clitest.CheckContains(t, errOut, "warning: the checksums of OLM v0.45.0 are not known to this program", "\n  --sha256 "+pinned+"\n")
	if code, _, errOut := install("--version", "0.45.0", "--sha256", pinned); code != 0 || errOut != "" {
		t.Errorf("--sha256: exit code %d\n%s", code, errOut)
	}
	code, out, errOut = install("--version", "0.28.0")
	if code != 1 || out != "" {
		t.Errorf("other files of a known release: exit code %d\n%s", code, out)
	}
	clitest.CheckContains(t, errOut, "OLM v0.28.0: crds.yaml has the SHA-256 digest "+sum("crds.yaml")+
		", but bac6ac8812e4113675a0c5b47c2ea53250c5736179e0072fb65dcf9355a88341 is pinned")
	before := sum("olm.yaml")
	files["olm.yaml"] += "# changed\n"
	code, out, errOut = install("--version", "0.45.0", "--sha256", pinned)
	if code != 1 || out != "" {
		t.Errorf("other files than given: exit code %d\n%s", code, out)
	}
	clitest.CheckContains(t, errOut, "OLM v0.45.0: olm.yaml has the SHA-256 digest "+sum("olm.yaml")+", but "+before+" is pinned")
}
