package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
)

// An auditEvent is what is read of an Event of audit.k8s.io/v1.
type auditEvent struct {
	Kind, Stage, Verb, RequestURI string
	User, ImpersonatedUser        struct{ Username string }
	ObjectRef                     struct{ APIGroup, APIVersion, Resource, Subresource, Namespace, Name string }
	ResponseStatus                struct{ Code int }
	Annotations                   map[string]string
	RequestReceivedTimestamp      time.Time
}

// maxAudited is how many denied requests of an audit log are kept: findings list only the first ones.
const maxAudited = 10000

// UseAudit reads the audit log of a cluster: JSON lines, or lists of events. It records which rules the operator has used there, and which
// requests were denied. The log is read as a stream; an error has the name of its file and the line.
func (g *Grants) UseAudit(file string, log io.Reader) error {
	found := false
	err := g.of.readAudit(file, log, func(r gateway.Record) {
		found = true
		if _, isDenied := DenialOf(r); !isDenied {
			g.Use(r)
		} else if len(g.denied) < maxAudited && !g.Permits(r.Request) {
			g.denied = append(g.denied, r)
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("%s has no requests of the operator, which is the user %s in the cluster", file, g.of.user())
	}
	g.audited = g.audited || err == nil
	return err
}

// Denied returns the requests in audit logs that were denied, and that the rules don't permit now.
func (g *Grants) Denied() []gateway.Record { return slices.Clone(g.denied) }

// readAudit calls each with the requests of the operator in an audit log.
func (p *Permissions) readAudit(file string, r io.Reader, each func(gateway.Record)) error {
	lines := &lineCounter{Reader: r}
	d := json.NewDecoder(lines)
	user := p.user()
	err := decodeEvents(d, func(e *auditEvent) error {
		lines.lineAt(d.InputOffset()) // forgets the lines before
		if e.Kind != "" && e.Kind != "Event" {
			return fmt.Errorf("is a %s, and not an Event of an audit log", e.Kind)
		}
		if e.Stage != "RequestReceived" && (e.User.Username == user && e.ImpersonatedUser.Username == "" || e.ImpersonatedUser.Username == user) {
			each(e.record(p))
		}
		return nil
	})
	if err == nil {
		return nil
	}
	offset := d.InputOffset()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = max(offset, syntax.Offset-1)
	}
	if field, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("the field %s is a %s", field.Field, field.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("ends within an event")
	}
	return diag.Finding{Position: diag.Position{File: file, Line: lines.lineAt(offset)}, Problem: err.Error()}
}

// decodeEvents calls each with the events of a stream: objects, or lists of them as they are or in the field items.
func decodeEvents(d *json.Decoder, each func(*auditEvent) error) error {
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case token == json.Delim('['):
			err = decodeList(d, each)
		case token == json.Delim('{'):
			err = decodeObject(d, each)
		default:
			err = errors.New("is not an Event of an audit log")
		}
		if err != nil {
			return err
		}
	}
}

// decodeList decodes the items of a list, and its end.
func decodeList(d *json.Decoder, each func(*auditEvent) error) error {
	for d.More() {
		var e auditEvent
		if err := d.Decode(&e); err != nil {
			return err
		}
		if err := each(&e); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return unexpected(err)
}

// decodeObject decodes the fields of an event or a list, and their end.
func decodeObject(d *json.Decoder, each func(*auditEvent) error) error {
	var e auditEvent
	isList := false
	fields := map[string]any{
		"kind": &e.Kind, "stage": &e.Stage, "verb": &e.Verb, "requestURI": &e.RequestURI, "user": &e.User, "impersonatedUser": &e.ImpersonatedUser,
		"objectRef": &e.ObjectRef, "responseStatus": &e.ResponseStatus, "annotations": &e.Annotations, "requestReceivedTimestamp": &e.RequestReceivedTimestamp,
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return unexpected(err)
		}
		name, _ := key.(string)
		if name == "items" {
			isList = true
			if start, err := d.Token(); err != nil || start != json.Delim('[') {
				return errors.Join(unexpected(err), errors.New("items is not a list"))
			}
			if err := decodeList(d, each); err != nil {
				return err
			}
			continue
		}
		into, ok := fields[name]
		if !ok {
			into = &json.RawMessage{}
		}
		if err := d.Decode(into); err != nil {
			return unexpected(err)
		}
	}
	if _, err := d.Token(); err != nil {
		return unexpected(err)
	}
	switch {
	case isList:
		return nil
	case e.Kind == "":
		return errors.New("is not an Event of an audit log")
	}
	return each(&e)
}

// unexpected returns the error of a stream that ends within a value.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// record returns the event as the gateway records a request. The log doesn't contain the message of a denial.
func (e *auditEvent) record(p *Permissions) gateway.Record {
	r := gateway.Record{Start: e.RequestReceivedTimestamp, Code: e.ResponseStatus.Code, ServerCode: e.ResponseStatus.Code}
	ref := e.ObjectRef
	r.Verb, r.Path = e.Verb, e.RequestURI
	if u, err := url.Parse(e.RequestURI); err == nil {
		r.Path, r.Query = u.Path, u.RawQuery
	}
	if ref.Namespace == p.deployed {
		ref.Namespace = p.Namespace
	}
	r.Group, r.Version, r.Resource, r.Subresource, r.Namespace, r.Name = ref.APIGroup, ref.APIVersion, ref.Resource, ref.Subresource, ref.Namespace, ref.Name
	if e.Annotations["authorization.k8s.io/decision"] == "forbid" {
		r.Code, r.ServerCode, r.Message = http.StatusForbidden, http.StatusForbidden, denialMessage(r.Request)
	}
	return r
}

// A lineCounter counts the lines of what is read through it.
type lineCounter struct {
	io.Reader

	read, lines int64
	// breaks are the offsets of line breaks behind the offset of the last call of lineAt.
	breaks []int64
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.breaks = append(c.breaks, c.read+int64(i))
		}
	}
	c.read += int64(n)
	return n, err
}

// lineAt returns the number of the line of an offset. Offsets must not decrease from call to call.
func (c *lineCounter) lineAt(offset int64) int {
	for len(c.breaks) > 0 && c.breaks[0] < offset {
		c.breaks, c.lines = c.breaks[1:], c.lines+1
	}
	return int(c.lines) + 1
}
