package edge

import (
	"github.com/waybook/waybook/edge/operation"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Operations describes every operation of the table, additions included. The order is that of
// the list in the failure of an unknown func.
func Operations() []operation.Description {
	table := operation.Table(&operation.Config{
		// Clients that are never called.
		Account: accountv1.NewAccountServiceClient(nil), Album: albumv1.NewAlbumServiceClient(nil),
		Blog: blogv1.NewBlogServiceClient(nil), Poi: poiv1.NewPoiServiceClient(nil),
	})
	described := make([]operation.Description, len(table))
	for i := range table {
		described[i] = table[i].Describe()
	}
	return described
}

// SharedParameters returns the parameters that every request may carry, besides those of its
// operation.
func SharedParameters() []operation.Parameter {
	return []operation.Parameter{
		{Name: "func", Hint: "the operation", IsRequired: true},
		{Name: paramResponseFormat.Name, Hint: paramResponseFormat.Hint},
		{Name: paramKey.Name, Hint: paramKey.Hint},
		{Name: paramTs.Name, Hint: paramTs.Hint},
		{Name: paramSig.Name, Hint: paramSig.Hint},
	}
}
