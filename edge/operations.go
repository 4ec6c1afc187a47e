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
func Operations() []operation.Description { return clientless().Operations() }

// clientless returns a Config of the whole table whose clients are never called.
func clientless() *Config {
	return &Config{
		Account: accountv1.NewAccountServiceClient(nil), Album: albumv1.NewAlbumServiceClient(nil),
		Blog: blogv1.NewBlogServiceClient(nil), Poi: poiv1.NewPoiServiceClient(nil),
	}
}

// Operations describes the operations of an edge with these settings. It calls no service.
func (c *Config) Operations() []operation.Description { return operation.Describe(c.operations()) }

// operations returns the dependencies of the operations.
func (c *Config) operations() *operation.Config {
	return &operation.Config{
		Account: c.Account, Album: c.Album, Blog: c.Blog, Poi: c.Poi,
		Additions: c.Additions, Sessions: c.Sessions, Validator: c.Validator, CallTimeout: c.CallTimeout,
	}
}

// SharedParameters returns the parameters that every request may carry, besides those of its
// operation.
func SharedParameters() []operation.Parameter {
	formats := []operation.Value{{Value: "XML", Label: "XML"}, {Value: "JSON", Label: "JSON"}}
	return []operation.Parameter{
		{Name: "func", Hint: "the operation", IsRequired: true},
		{Name: paramResponseFormat.Name, Hint: paramResponseFormat.Hint, Type: operation.Enum, Values: formats},
		{Name: paramKey.Name, Hint: paramKey.Hint},
		{Name: paramTs.Name, Hint: paramTs.Hint, Type: operation.Integer},
		{Name: paramSig.Name, Hint: paramSig.Hint},
	}
}
