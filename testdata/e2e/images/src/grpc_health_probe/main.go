// Command grpc_health_probe asks a gRPC server whether it serves: OLM has it run in the pods of catalogs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	address := flag.String("addr", "", "address of the server")
	timeout := flag.Duration("rpc-timeout", time.Second, "how long the answer may take")
	flag.Parse()
	if err := probe(*address, *timeout); err != nil {
		fmt.Fprintf(os.Stderr, "grpc_health_probe: %v\n", err)
		os.Exit(1)
	}
}

func probe(address string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	connection, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	answer, err := health.NewHealthClient(connection).Check(ctx, &health.HealthCheckRequest{})
	if err == nil && answer.Status != health.HealthCheckResponse_SERVING {
		err = fmt.Errorf("the server is %s", answer.Status)
	}
	return err
}
