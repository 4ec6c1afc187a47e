// Command oldserver serves the content of a file as somebody else's server of the legacy contract
// would.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/waybook/waybook/e2e/oldserver"
)

func main() {
	address := flag.String("http", "127.0.0.1:0", "`address` to serve")
	file := flag.String("content", "", "`file` with the content, a JSON object")
	flag.Parse()
	if err := serve(*address, *file); err != nil {
		fmt.Fprintln(os.Stderr, "oldserver:", err)
		os.Exit(1)
	}
}

func serve(address, file string) error {
	content, err := oldserver.Read(file)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := &http.Server{Handler: oldserver.New(content, oldserver.Taipei), ReadHeaderTimeout: time.Minute}
	return server.Serve(listener)
}
