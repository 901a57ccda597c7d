package gateway

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// elections keeps the leases of a program in a dry run, which is always the leader: otherwise it would wait for the one in the cluster.
type elections struct {
	mu     sync.Mutex
	leases map[string]lease
}

// A lease is the body of a program's last write, which is also what it gets.
type lease struct {
	mediaType string
	body      []byte
}

// isElection reports whether a request is part of an election. The clients for it have the same suffix of the user agent everywhere.
func (x *Exchange) isElection() bool {
	if x.Group != "coordination.k8s.io" || x.Resource != "leases" || x.Subresource != "" || !strings.HasSuffix(x.UserAgent, "leader-election") {
		return false
	}
	return x.Verb == "get" || x.Verb == "create" || x.Verb == "update"
}

// elect answers a request of an election.
func (x *Exchange) elect() {
	e, key := &x.gateway.elections, x.Namespace+"/"+x.Name
	e.mu.Lock()
	defer e.mu.Unlock()
	code := http.StatusOK
	if x.Verb != "get" {
		body, err := io.ReadAll(io.LimitReader(x.request.Body, maxBody))
		if err != nil {
			x.Reset()
		}
		e.leases[key] = lease{x.request.Header.Get("Content-Type"), bytes.Clone(body)}
		if x.Verb == "create" {
			code = http.StatusCreated
		}
	}
	held, found := e.leases[key]
	if !found {
		x.reply(http.StatusNotFound, "NotFound", `leases.coordination.k8s.io "`+x.Name+`" not found`, 0)
		return
	}
	x.Code = code
	x.end()
	x.writer.Header().Set("Content-Type", cmp.Or(held.mediaType, runtime.ContentTypeJSON))
	x.writer.WriteHeader(code)
	_, _ = x.writer.Write(held.body) // fails if the program has gone
}
