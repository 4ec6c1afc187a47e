package rpc_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// services are the full names of all services.
var services = []string{
	"waybook.account.v1.AccountService", "waybook.album.v1.AlbumService", "waybook.blog.v1.BlogService", "waybook.poi.v1.PoiService",
	"waybook.comment.v1.CommentService", "waybook.photo.v1.PhotoService", "waybook.recommendation.v1.RecommendationService",
	"waybook.movein.v1.MoveInService", "waybook.store.v1.StoreService",
}

func TestEachServiceAndTheServerAreHealthy(t *testing.T) {
	t.Parallel()
	w := start(t)
	client := healthv1.NewHealthClient(w.Connection)
	for _, service := range append([]string{""}, services...) {
		reply := must(client.Check(t.Context(), &healthv1.HealthCheckRequest{Service: service}))(t)
		if reply.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("%q is %v", service, reply.GetStatus())
		}
	}
	_, err := client.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "waybook.none.v1.NoneService"})
	expectFault(t, err, codes.NotFound, "SERVICE_UNKNOWN")
}
