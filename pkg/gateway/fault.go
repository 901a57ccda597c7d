package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"time"
)

// A Rule injects a fault into requests.
type Rule struct {
	// Name is part of the hash of Share.
	Name string
	// Match reports whether the rule applies to a request; nil means all.
	Match func(Request) bool
	// Skip is the number of matching requests that are forwarded first.
	Skip int
	// Times is the number of faults after which the rule ends; 0 means no end.
	Times int
	// Share is the share of matching requests that get the fault, from 0 to 1; 0 means all.
	Share float64
	Fault Fault
}

// A Fault handles a request instead of the API server.
type Fault func(*Exchange)

// Status answers with a Status of the API server. With a positive delay, the answer has the header Retry-After in seconds.
func Status(code int, reason, message string, retryAfter time.Duration) Fault {
	return func(x *Exchange) { x.reply(code, reason, message, retryAfter) }
}

// TooManyRequests answers as the API server does when it is overloaded.
func TooManyRequests(retryAfter time.Duration) Fault {
	return Status(http.StatusTooManyRequests, "TooManyRequests", "The apiserver is currently overloaded; please try again later", retryAfter)
}

// Slow forwards requests after a delay.
func Slow(delay time.Duration) Fault {
	return func(x *Exchange) {
		select {
		case <-time.After(delay):
			x.Forward()
		case <-x.request.Context().Done():
			x.Reset()
		}
	}
}

// Reset resets the stream, or the connection with HTTP/1.1, without forwarding the request.
func Reset() Fault { return (*Exchange).Reset }

// LoseResponse forwards the request and resets the stream instead of answering.
func LoseResponse() Fault {
	return func(x *Exchange) {
		x.forwardSilently()
		x.Reset()
	}
}

// An Exchange is a request that a fault handles, and its answer. A fault calls one method, once.
type Exchange struct {
	Record
	gateway *Gateway
	writer  http.ResponseWriter
	request *http.Request
	// silent keeps the answer from the program, and recorded is set with the first record.
	silent, recorded bool
	// dry is the write if it is a dry run that DryRun.Wrote gets.
	dry *DryWrite
}

// exchangeKey is the key of the Exchange in the context of a request.
type exchangeKey struct{}

func exchangeOf(r *http.Request) *Exchange { return r.Context().Value(exchangeKey{}).(*Exchange) }

// answered records the answer of the API server.
func (x *Exchange) answered(answer *http.Response) error {
	x.ServerCode = answer.StatusCode
	body, err := x.readAnswer(answer)
	if err != nil {
		return err
	}
	if !x.silent {
		x.Code = answer.StatusCode
	}
	x.end()
	if x.dry != nil {
		x.wrote(body)
	}
	return nil
}

// end records the exchange, unless that was done.
func (x *Exchange) end() {
	if x.recorded {
		return
	}
	x.recorded, x.Duration = true, time.Since(x.Start)
	if x.gateway.record != nil {
		x.gateway.record(x.Record)
	}
}

// Forward forwards the request to the API server, and its answer.
func (x *Exchange) Forward() { x.gateway.proxy.ServeHTTP(x.writer, x.request) }

// Reset ends the exchange without an answer. It doesn't return.
func (x *Exchange) Reset() { panic(http.ErrAbortHandler) }

// forwardSilently forwards the request, also if the program ends, and drops the answer.
func (x *Exchange) forwardSilently() {
	x.silent = true
	x.gateway.proxy.ServeHTTP(sink{}, x.request.WithContext(context.WithoutCancel(x.request.Context())))
}

func (x *Exchange) reply(code int, reason, message string, retryAfter time.Duration) {
	x.Code, x.Reason, x.Message = code, reason, message
	x.end()
	status := map[string]any{
		"apiVersion": "v1", "kind": "Status", "status": "Failure", "metadata": map[string]any{},
		"code": code, "reason": reason, "message": message,
	}
	if seconds := int(retryAfter.Round(time.Second).Seconds()); seconds > 0 {
		x.writer.Header().Set("Retry-After", strconv.Itoa(seconds))
		status["details"] = map[string]any{"retryAfterSeconds": seconds}
	}
	x.writer.Header().Set("Content-Type", "application/json")
	x.writer.WriteHeader(code)
	_ = json.NewEncoder(x.writer).Encode(status) // fails if the program has gone
}

// A sink is a ResponseWriter that drops the answer.
type sink struct{}

func (sink) Header() http.Header         { return http.Header{} }
func (sink) Write(p []byte) (int, error) { return len(p), nil }
func (sink) WriteHeader(int)             {}
func (sink) Flush()                      {}

// An activeRule is a rule with its state, which the mutex of the gateway guards.
type activeRule struct {
	Rule
	seen, injected int
	// occurrences counts equal requests.
	occurrences map[string]int
}

// take reports whether the next request gets the fault.
func (r *activeRule) take(request Request, seed uint64) bool {
	if r.Times > 0 && r.injected == r.Times || r.Match != nil && !r.Match(request) {
		return false
	}
	if r.seen++; r.seen <= r.Skip {
		return false
	}
	if r.Share > 0 {
		key := request.String()
		r.occurrences[key]++
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s %s %d", seed, r.Name, key, r.occurrences[key])
		if float64(mix(h.Sum64())>>11)/(1<<53) >= r.Share {
			return false
		}
	}
	r.injected++
	return true
}

// mix spreads the bits of a hash whose inputs differ little.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
