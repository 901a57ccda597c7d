package redact

import (
	"net/url"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

var (
	// secretVariable matches variables of the environment whose values are secret, in addition to keys of values.
	secretVariable = lazyregexp.New(`(?i)(^|[_.-])(keys?|auth|pat|psw|pass|passwd|pwd|sas|dsn|cookie|session)$|access[_.-]?key`)
	// publicVariable matches variables that name something secret, such as a file, and those that Kubernetes sets for each Service.
	publicVariable = lazyregexp.New(`(?i)(_(name|namespace|ref|file|path|dir|url|uri|host|port|enabled|type|sock|user|id|timeout|ttl)|_SERVICE_(HOST|PORT)(_\w+)?|_PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)$`)
	// plainWord matches values that would make texts unreadable, and are no secrets.
	plainWord = lazyregexp.New(`(?i)^(true|false|none|null|default|enabled?|disabled?|required|optional|always|never|auto|[0-9.]{1,5})$`)
)

// AddEnviron adds the values of variables of an environment, in the form KEY=VALUE, whose names look like secrets, and the
// passwords in URLs.
func (r *Redactor) AddEnviron(environ []string) {
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case plainWord.MatchString(value):
		case IsSecretKey(name) && !publicVariable.MatchString(name), secretVariable.MatchString(name):
			r.Add(value)
		case strings.Contains(value, "://") && strings.Contains(value, "@"):
			if u, err := url.Parse(value); err == nil && u.User != nil {
				if password, ok := u.User.Password(); ok {
					r.Add(password)
				}
			}
		}
	}
}
