package image

import (
	"bytes"
	"encoding/pem"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// NonRoot is the ID of the user nonroot, as in distroless images.
const NonRoot = 65532

// BaseLayer returns a layer with the files that a static program requires: the certificates of public authorities, the users
// root and nonroot, and a directory for temporary files. The certificates are those of Mozilla, in the linked version.
// Authorities that are trusted with constraints are left out, as a file of certificates cannot contain these.
func BaseLayer(at time.Time) (*Layer, error) {
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
	return NewLayer("certificates of public authorities, a user, a directory for temporary files", []File{
		Text("etc/passwd", 0o644, []byte(passwd)),
		Text("etc/group", 0o644, []byte(group)),
		Text("etc/ssl/certs/ca-certificates.crt", 0o644, certificates.Bytes()),
		{Name: "home/nonroot/", Mode: 0o700, Owner: NonRoot},
		{Name: "tmp/", Mode: 0o1777},
	}, at)
}
