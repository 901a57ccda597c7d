package image

import (
	"bytes"
	"encoding/pem"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// NonRoot is the user of programs that need no privileges, as distroless images number it.
const NonRoot = 65532

// Floor is what a static program expects to find around it: the certificates of public authorities, a user
// with a name, and a folder for temporary files. The certificates are those of Mozilla, of the version that is
// linked in: the machine has no part in it. Authorities that are trusted with conditions are left out, since
// a file of certificates cannot state them.
func Floor(at time.Time) (*Layer, error) {
	var certificates bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	const passwd = "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"
	const group = "root:x:0:\nnonroot:x:65532:\n"
	return NewLayer("certificates of public authorities, a user, a folder for temporary files", []File{
		Text("etc/passwd", 0o644, []byte(passwd)),
		Text("etc/group", 0o644, []byte(group)),
		Text("etc/ssl/certs/ca-certificates.crt", 0o644, certificates.Bytes()),
		{Name: "home/nonroot/", Mode: 0o700, Owner: NonRoot},
		{Name: "tmp/", Mode: 0o1777},
	}, at)
}
