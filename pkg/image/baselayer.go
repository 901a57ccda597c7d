package image

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// A User is the user that a container runs as. It may write to Home, and with the group 0 each user of the group may.
type User struct {
	Name    string
	ID, GID int
	// Home is an absolute path.
	Home string
}

// NonRoot is the user of managers in Go, as in distroless images.
func NonRoot() User { return User{Name: "nonroot", ID: 65532, GID: 65532, Home: "/home/nonroot"} }

// String returns the user and group as the configuration of an image has them: 65532:65532.
func (u User) String() string { return fmt.Sprintf("%d:%d", u.ID, u.GID) }

// HomeDir returns the home directory. A layer that adds files to it must contain it, too, as its parents are owned by root.
func (u User) HomeDir() File {
	mode := int64(0o700)
	if u.GID == 0 {
		mode = 0o770
	}
	return File{Name: strings.TrimPrefix(u.Home, "/") + "/", Mode: mode, Owner: u.ID, Group: u.GID}
}

// BaseLayer returns a layer with the files that a static program requires: the certificates of public authorities, the users
// root and user, and a directory for temporary files. The certificates are Mozilla's, in the linked version.
// Authorities that are trusted with constraints are left out, as a file of certificates cannot contain these.
func BaseLayer(user User, at time.Time) (*Layer, error) {
	var certificates bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	passwd := "root:x:0:0:root:/root:/sbin/nologin\n" +
		fmt.Sprintf("%s:x:%d:%d:%[1]s:%[4]s:/sbin/nologin\n", user.Name, user.ID, user.GID, user.Home)
	group := "root:x:0:\n"
	if user.GID != 0 {
		group += fmt.Sprintf("%s:x:%d:\n", user.Name, user.GID)
	}
	return NewLayer("certificates of public authorities, a user, a directory for temporary files", []File{
		Text("etc/passwd", 0o644, []byte(passwd)),
		Text("etc/group", 0o644, []byte(group)),
		Text("etc/ssl/certs/ca-certificates.crt", 0o644, certificates.Bytes()),
		user.HomeDir(),
		{Name: "tmp/", Mode: 0o1777},
	}, at)
}
