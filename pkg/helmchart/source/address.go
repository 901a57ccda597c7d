package source

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// displayed returns a source of a chart for messages and for Origin: a URL without user information, query and fragment,
// which can hold credentials.
func displayed(source string) string {
	if !strings.Contains(source, "://") {
		return source
	}
	u, err := url.Parse(source)
	if err != nil {
		scheme, _, _ := strings.Cut(source, "://")
		return scheme + "://…"
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// parseURL parses a URL with a host. Errors do not contain credentials.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: not a valid URL", displayed(raw))
	case u.Host == "":
		return nil, fmt.Errorf("%s: not a valid URL: the host is missing", displayed(raw))
	}
	return u, nil
}

// sameHost reports whether credentials for one URL may be sent to another: scheme, host and port are the same.
func sameHost(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}

// isBelow reports whether a URL is a repository's, or below it.
func isBelow(u, repository *url.URL) bool {
	base := strings.TrimSuffix(repository.Path, "/")
	return sameHost(u, repository) && (u.Path == base || strings.HasPrefix(u.Path, base+"/"))
}

// isLoopback reports whether a host, with or without a port, is this machine.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
