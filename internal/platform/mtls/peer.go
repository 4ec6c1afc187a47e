package mtls

import (
	"context"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// PeerNames returns the DNS names in the verified certificate of a call's client. It returns
// none if the client has shown no certificate.
func PeerNames(ctx context.Context) []string {
	client, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	info, ok := client.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return nil
	}
	return info.State.VerifiedChains[0][0].DNSNames
}
