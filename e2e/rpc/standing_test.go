package rpc_test

import (
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
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

func TestReflectionDescribesTheServicesCompletely(t *testing.T) {
	t.Parallel()
	w := start(t)
	stream, err := reflectionv1.NewServerReflectionClient(w.Connection).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
	// A stream does not repeat the files that a file imports.
	set := &descriptorpb.FileDescriptorSet{}
	for _, service := range services {
		if !slices.Contains(names, service) {
			t.Fatalf("%s is not among %v", service, names)
		}
		reply := ask(&reflectionv1.ServerReflectionRequest{
			MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service},
		})
		for _, raw := range reply.GetFileDescriptorResponse().GetFileDescriptorProto() {
			file := &descriptorpb.FileDescriptorProto{}
			if err := proto.Unmarshal(raw, file); err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(set.File, func(each *descriptorpb.FileDescriptorProto) bool { return each.GetName() == file.GetName() }) {
				set.File = append(set.File, file)
			}
		}
		files, err := protodesc.NewFiles(set)
		if err != nil {
			t.Fatalf("%s: %v", service, err)
		}
		found, err := files.FindDescriptorByName(protoreflect.FullName(service))
		if err != nil || found.(protoreflect.ServiceDescriptor).Methods().Len() == 0 {
			t.Fatalf("%s is described as %v, %v", service, found, err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Error(err)
	}
}
