package cli

import (
	"strings"

	"google.golang.org/grpc/status"
)

// describeTLS describes a connection that failed because of a certificate, on either side. It
// reports false for any other failure. gRPC passes on only the text of crypto/tls and crypto/x509,
// and a server's refusal arrives after the client's handshake, so the text is all there is.
func describeTLS(call *callError) (failure, bool) {
	text := strings.TrimSuffix(status.Convert(call.cause).Message(), `"`)
	at := "the " + call.service + " service at " + call.address
	if _, refusal, found := strings.Cut(text, "remote error: tls: "); found {
		return refused(at+" does not accept the certificate in --tls-cert: "+refusal,
			"use a certificate from an authority that the service trusts, with --tls-cert and --tls-key"), true
	}
	if strings.Contains(text, "first record does not look like a TLS handshake") {
		return refused("the process at "+call.address+" does not use TLS",
			"leave out --tls-cert, --tls-key and --tls-ca, or set --address or --"+call.service+" if the service is elsewhere"), true
	}
	_, cause, found := strings.Cut(text, "x509: ")
	switch {
	case !found:
		return failure{}, false
	case strings.HasPrefix(cause, "certificate signed by unknown authority"):
		return refused("the certificate of "+at+" is from an authority that is not in --tls-ca",
			"use the services' ca.crt, for example the one in the Secret waybook-operator-tls"), true
	case strings.HasPrefix(cause, "certificate is "), strings.HasPrefix(cause, "cannot validate certificate for"):
		return refused("the certificate of "+at+" is for another name: "+cause,
			"set --tls-server-name "+call.service+" if this address is a tunnel to the service"), true
	}
	return refused("the certificate of "+at+" is not valid: "+cause, "see Certificates in docs/operations.md"), true
}

func refused(message, next string) failure {
	return failure{statusRefused, message, []string{next}}
}
