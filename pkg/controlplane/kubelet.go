package controlplane

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// kubeletServer takes the place of the server of a kubelet. It refuses what needs containers with a sentence, where the API server could only
// report that it can't reach the node.
type kubeletServer struct {
	server *http.Server
	port   int
}

// serveKubelet starts the server on a loopback address, with a certificate of its own, which the API server doesn't verify.
func serveKubelet() (*kubeletServer, error) {
	self, err := newAuthority()
	if err != nil {
		return nil, err
	}
	pair := tls.Certificate{Certificate: [][]byte{self.cert.Raw}, PrivateKey: self.key}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for pattern, lack := range map[string]string{
		"/containerLogs/{namespace}/{pod}/{container}": "it has no logs",
		"/exec/{namespace}/{pod}/{container}":          "no command can run in it",
		"/exec/{namespace}/{pod}/{uid}/{container}":    "no command can run in it",
		"/attach/{namespace}/{pod}/{container}":        "there is nothing to attach to",
		"/attach/{namespace}/{pod}/{uid}/{container}":  "there is nothing to attach to",
		"/portForward/{namespace}/{pod}":               "no port is open in it",
		"/portForward/{namespace}/{pod}/{uid}":         "no port is open in it",
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			text := fmt.Sprintf("the containers of pod %s/%s are simulated, so %s", r.PathValue("namespace"), r.PathValue("pod"), lack)
			http.Error(w, text, http.StatusBadRequest)
		})
	}
	k := &kubeletServer{port: listener.Addr().(*net.TCPAddr).Port, server: &http.Server{
		Handler: mux, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	}}
	go func() { _ = k.server.ServeTLS(listener, "", "") }() // until close
	return k, nil
}

func (k *kubeletServer) close() { _ = k.server.Close() }
