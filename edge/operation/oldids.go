package operation

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// maxOldID is the most bytes of an old identifier.
const maxOldID = 100

// built builds the request of an operation. A parameter that identifies content, and is no number
// that an identifier may be, may be an old identifier: the service is asked for what it stands for.
// If it stands for nothing, or the service does not answer, the parameter is invalid as ever. Old
// identifiers that are numbers up to 2^53 - 1 pass: the services resolve them.
func built[Request proto.Message](ctx context.Context, c *Config, in *Input, build func(*Input) Request) Request {
	request := build(in)
	var replaced map[string]string
	// A photo or a comment is found under its content, which may have to be found first.
	for range 2 {
		if !in.Faulty() || !c.resolveRefused(ctx, in, request, &replaced) {
			break
		}
		in.Replace(replaced)
		request = build(in)
	}
	return request
}

// resolveRefused adds what the refused parameters of a request stand for to replaced. It reports
// whether there was any.
func (c *Config) resolveRefused(ctx context.Context, in *Input, request proto.Message, replaced *map[string]string) (found bool) {
	message := request.ProtoReflect()
	var names []string
	var oldIDs []*typev1.OldIdentifier
	for _, refusal := range in.Refusals() {
		kind := identifies(message.Descriptor(), refusal.Field)
		if kind == typev1.Identifies_IDENTIFIES_UNSPECIFIED || refusal.Value == "" || len(refusal.Value) > maxOldID {
			continue
		}
		old := &typev1.OldIdentifier{Kind: kind, OldId: refusal.Value}
		switch kind {
		case typev1.Identifies_IDENTIFIES_POSITION:
			old.Kind = typev1.Identifies_IDENTIFIES_CONTENT
		case typev1.Identifies_IDENTIFIES_PHOTO, typev1.Identifies_IDENTIFIES_COMMENT:
			old.ContentId = contentOf(message)
		}
		names, oldIDs = append(names, refusal.Name), append(oldIDs, old)
	}
	if len(oldIDs) == 0 {
		return false
	}
	ctx, cancel := c.callContext(ctx)
	defer cancel()
	ids, err := c.resolveOldIDs(ctx, message.Descriptor().ParentFile().Package(), oldIDs)
	if err != nil || len(ids) != len(oldIDs) {
		return false
	}
	for i, id := range ids {
		if id == 0 {
			continue
		}
		if *replaced == nil {
			*replaced = map[string]string{}
		}
		(*replaced)[names[i]], found = strconv.FormatInt(id, 10), true
	}
	return found
}

// resolveOldIDs asks the service of a package of the contracts.
func (c *Config) resolveOldIDs(ctx context.Context, service protoreflect.FullName, oldIDs []*typev1.OldIdentifier) ([]int64, error) {
	switch service {
	case "waybook.album.v1":
		reply, err := c.Album.ResolveOldIds(ctx, &albumv1.ResolveOldIdsRequest{OldIds: oldIDs})
		return reply.GetIds(), err
	case "waybook.blog.v1":
		reply, err := c.Blog.ResolveOldIds(ctx, &blogv1.ResolveOldIdsRequest{OldIds: oldIDs})
		return reply.GetIds(), err
	case "waybook.poi.v1":
		reply, err := c.Poi.ResolveOldIds(ctx, &poiv1.ResolveOldIdsRequest{OldIds: oldIDs})
		return reply.GetIds(), err
	}
	return nil, nil
}

// identifies returns what a field of a request identifies, other than a user.
func identifies(message protoreflect.MessageDescriptor, field string) typev1.Identifies {
	descriptor := message.Fields().ByName(protoreflect.Name(field))
	if descriptor == nil {
		return typev1.Identifies_IDENTIFIES_UNSPECIFIED
	}
	kind, _ := proto.GetExtension(descriptor.Options(), typev1.E_Identifies).(typev1.Identifies)
	if kind == typev1.Identifies_IDENTIFIES_USER {
		return typev1.Identifies_IDENTIFIES_UNSPECIFIED
	}
	return kind
}

// contentOf returns the content that a request names, or 0.
func contentOf(message protoreflect.Message) int64 {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		if identifies(message.Descriptor(), string(fields.Get(i).Name())) == typev1.Identifies_IDENTIFIES_CONTENT {
			return message.Get(fields.Get(i)).Int()
		}
	}
	return 0
}
