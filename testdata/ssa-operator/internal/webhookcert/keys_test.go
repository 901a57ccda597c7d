package webhookcert

import (
	"bytes"
	"testing"
	"time"
)

var names = []string{"webhook-service.operator.svc", "webhook-service.operator.svc.cluster.local"}

// mustRenew renews the certificates of a Secret, and checks that the server's certificate is trusted.
func mustRenew(t *testing.T, data map[string][]byte, now time.Time) *keyPairs {
	t.Helper()
	k, err := renew(data, names, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.verify(names, now); err != nil {
		t.Fatalf("at %s, the certificate is not trusted: %v", now, err)
	}
	return k
}

// TestRenew checks that certificates are renewed in time for thirty years, and that clients that know the previous CAs trust
// each new one.
func TestRenew(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	last := mustRenew(t, nil, start)
	servers, authorities := 1, 1
	for now := start; now.Before(start.Add(30 * 365 * day)); {
		if !last.due.After(now) {
			t.Fatalf("at %s, the next renewal is at %s", now, last.due)
		}
		if early := mustRenew(t, last.data, last.due.Add(-time.Minute)); early.changed(last.data) {
			t.Fatalf("before %s, the certificates change", last.due)
		}
		now = last.due.Add(time.Second)
		next := mustRenew(t, last.data, now)
		server := !bytes.Equal(next.data["tls.crt"], last.data["tls.crt"])
		if server {
			servers++
			// The API server may not have the latest CAs yet.
			next.trusted, last.trusted = last.trusted, next.trusted
			if err := next.verify(names, now); err != nil {
				t.Fatalf("at %s, a new certificate is not trusted yet: %v", now, err)
			}
			next.trusted, last.trusted = last.trusted, next.trusted
		}
		if !bytes.Equal(next.data["ca.key"], last.data["ca.key"]) {
			authorities++
			if server {
				t.Fatalf("at %s, a new CA signs at once", now)
			}
		}
		last = next
	}
	if servers < 30 || servers > 45 || authorities < 3 || authorities > 4 {
		t.Errorf("in 30 years, there were %d certificates by %d CAs", servers, authorities)
	}
}

// TestRecover checks that unusable certificates are replaced.
func TestRecover(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	valid := mustRenew(t, nil, start)
	other := mustRenew(t, nil, start)
	for name, test := range map[string]struct {
		change func(data map[string][]byte)
		now    time.Time
	}{
		"expired":        {func(map[string][]byte) {}, start.Add(20 * 365 * day)},
		"empty":          {func(data map[string][]byte) { clear(data) }, start},
		"no certificate": {func(data map[string][]byte) { delete(data, "tls.crt") }, start},
		"another key":    {func(data map[string][]byte) { data["tls.key"] = other.data["tls.key"] }, start},
		"another CA": {func(data map[string][]byte) {
			data["ca.crt"], data["ca.key"] = other.data["ca.crt"], other.data["ca.key"]
		}, start},
		"another CA key":    {func(data map[string][]byte) { data["ca.key"] = other.data["ca.key"] }, start},
		"no CA":             {func(data map[string][]byte) { data["ca.crt"] = []byte("no PEM") }, start},
		"a CA that is none": {func(data map[string][]byte) { data["ca.crt"], data["ca.key"] = data["tls.crt"], data["tls.key"] }, start},
		"another service":   {func(data map[string][]byte) { replaceServer(t, data, start) }, start},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := map[string][]byte{}
			for key, value := range valid.data {
				data[key] = value
			}
			test.change(data)
			k := mustRenew(t, data, test.now)
			if !k.changed(data) {
				t.Error("nothing changed")
			}
			if again := mustRenew(t, k.data, test.now); again.changed(k.data) {
				t.Error("the certificates change again")
			}
		})
	}
}

// replaceServer replaces the server's certificate by one for another name.
func replaceServer(t *testing.T, data map[string][]byte, now time.Time) {
	t.Helper()
	delete(data, "tls.crt")
	k, err := renew(data, []string{"other.operator.svc"}, now)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range k.data {
		data[key] = value
	}
}
