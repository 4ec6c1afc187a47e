package rpc_test

import (
	"slices"
	"testing"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
)

func TestEachServiceIsHealthyAndDescribesItself(t *testing.T) {
	t.Parallel()
	w := start(t)
	stream := must(reflectionv1.NewServerReflectionClient(w.Connection).ServerReflectionInfo(t.Context()))(t)
	ask := func(request *reflectionv1.ServerReflectionRequest) *reflectionv1.ServerReflectionResponse {
		t.Helper()
		if err := stream.Send(request); err != nil {
			t.Fatal(err)
		}
		return must(stream.Recv())(t)
	}
	listed := ask(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	var names []string
	for _, service := range listed.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	health := healthv1.NewHealthClient(w.Connection)
	for _, name := range []string{
		"waybook.account.v1.AccountService", "waybook.album.v1.AlbumService", "waybook.blog.v1.BlogService",
		"waybook.poi.v1.PoiService", "waybook.comment.v1.CommentService", "waybook.photo.v1.PhotoService",
		"waybook.recommendation.v1.RecommendationService", "waybook.movein.v1.MoveInService", "waybook.store.v1.StoreService",
	} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among %v", name, names)
		}
		symbol := &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name}
		described := ask(&reflectionv1.ServerReflectionRequest{MessageRequest: symbol})
		if failure := described.GetErrorResponse(); failure != nil {
			t.Errorf("%s: %v", name, failure)
		}
		reply := must(health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: name}))(t)
		if reply.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("%s is %v", name, reply.GetStatus())
		}
	}
}
