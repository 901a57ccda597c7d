package gateway

import (
	"net/http"
	"testing"
)

// BenchmarkGateway measures requests by 100 clients of an API server that does nothing: directly, and through the gateway.
func BenchmarkGateway(b *testing.B) {
	g, backend, client := start(b, true)
	for _, way := range []struct {
		name, url, token string
		client           *http.Client
	}{
		{"direct", backend.server.URL, backendToken, backend.server.Client()},
		{"gateway", g.URL, "good", client},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPut} {
			b.Run(way.name+"/"+method, func(b *testing.B) {
				b.SetParallelism(100)
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						if code, text, err := send(b, way.client, method, way.url+configMaps+"/one", way.token, "{}"); code != http.StatusOK {
							b.Error(code, text, err)
						}
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
			})
		}
	}
}

// BenchmarkGatewayLatency measures one request after the other.
func BenchmarkGatewayLatency(b *testing.B) {
	g, backend, client := start(b, true)
	for range b.N {
		if code, _, err := send(b, backend.server.Client(), http.MethodGet, backend.server.URL+configMaps+"/one", backendToken, ""); code != http.StatusOK {
			b.Fatal(code, err)
		}
	}
	direct := b.Elapsed()
	b.ResetTimer()
	for range b.N {
		if code, _, err := send(b, client, http.MethodGet, g.URL+configMaps+"/one", "good", ""); code != http.StatusOK {
			b.Fatal(code, err)
		}
	}
	b.ReportMetric(float64((b.Elapsed()-direct).Microseconds())/float64(b.N), "µs-added/op")
}
