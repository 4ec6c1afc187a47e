package service

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/platform/apierror"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// mover is a service that takes records of MoveInService.
type mover interface {
	// TakesRecord reports whether a record is one of the service.
	TakesRecord(record *moveinv1.Record) bool
	// MoveIn is that of MoveInService. All records are of the service.
	MoveIn(ctx context.Context, request *moveinv1.MoveInRequest) (*moveinv1.MoveInResponse, error)
}

// Register registers services, and what several of them share once.
func Register(registrar grpc.ServiceRegistrar, services ...Service) {
	var movers moveInServer
	for _, each := range services {
		each.Register(registrar)
		if takes, ok := each.(mover); ok {
			movers.movers = append(movers.movers, takes)
		}
	}
	if len(movers.movers) > 0 {
		moveinv1.RegisterMoveInServiceServer(registrar, movers)
	}
}

// moveInServer gives a request to the service of its records.
type moveInServer struct {
	moveinv1.UnimplementedMoveInServiceServer
	movers []mover
}

func (s moveInServer) MoveIn(ctx context.Context, request *moveinv1.MoveInRequest) (*moveinv1.MoveInResponse, error) {
	var chosen mover
	for i, record := range request.GetRecords() {
		n := slices.IndexFunc(s.movers, func(each mover) bool { return each.TakesRecord(record) })
		switch {
		case n < 0:
			return nil, apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: fmt.Sprintf("records[%d]", i), Message: "is of another server, or empty"})
		case chosen != nil && chosen != s.movers[n]:
			return nil, apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: fmt.Sprintf("records[%d]", i), Message: "is of another service than the records before"})
		}
		chosen = s.movers[n]
	}
	return chosen.MoveIn(ctx, request)
}
