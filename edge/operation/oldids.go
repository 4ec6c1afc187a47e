package operation

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/parent"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// maxOldID is the most bytes of an old identifier.
const maxOldID = 100

// built builds the request of an operation, or fails with what is wrong with its parameters. A
// parameter that identifies content, and is no number that an identifier may be, may be an old
// identifier: the service is asked for what it stands for. If it stands for nothing, or the
// service does not answer, the parameter is invalid as ever. Old identifiers that are numbers up
// to 2^53 - 1 pass: the services resolve them.
func built[Request proto.Message](ctx context.Context, c *Config, in *Input,
	build func(*Input) Request) (Request, error) {
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
	return request, in.complaint(request)
}

// resolveRefused adds what the refused parameters of a request stand for to replaced. It reports
// whether there was any.
func (c *Config) resolveRefused(ctx context.Context, in *Input, request proto.Message,
	replaced *map[string]string) (found bool) {
	message := request.ProtoReflect()
	var names []string
	var oldIDs []*moveinv1.OldIdentifier
	for _, refusal := range in.Refusals() {
		kind := identifies(message.Descriptor(), refusal.Field)
		if kind == typev1.Kind_KIND_UNSPECIFIED || refusal.Value == "" || len(refusal.Value) > maxOldID {
			continue
		}
		old := &moveinv1.OldIdentifier{Kind: kind, OldId: refusal.Value}
		switch kind {
		case typev1.Kind_KIND_POSITION:
			old.Kind = listed(message.Descriptor())
		case typev1.Kind_KIND_PHOTO, typev1.Kind_KIND_COMMENT:
			if old.ParentKind, old.ParentId = parent.Of(request); old.ParentId == 0 {
				continue
			}
		}
		names, oldIDs = append(names, refusal.Name), append(oldIDs, old)
	}
	if len(oldIDs) == 0 {
		return false
	}
	ctx, cancel := c.callContext(ctx)
	defer cancel()
	response, err := c.MoveIn.ResolveOldIds(ctx, &moveinv1.ResolveOldIdsRequest{OldIds: oldIDs})
	if err != nil || len(response.GetIds()) != len(oldIDs) {
		return false
	}
	for i, id := range response.GetIds() {
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

// identifies returns what a field of a request identifies, other than a user.
func identifies(message protoreflect.MessageDescriptor, field string) typev1.Kind {
	descriptor := message.Fields().ByName(protoreflect.Name(field))
	if descriptor == nil {
		return typev1.Kind_KIND_UNSPECIFIED
	}
	kind, _ := proto.GetExtension(descriptor.Options(), typev1.E_Id).(typev1.Kind)
	if kind == typev1.Kind_KIND_USER {
		return typev1.Kind_KIND_UNSPECIFIED
	}
	return kind
}

// listed returns the kind of the content in whose list a request names a position.
func listed(request protoreflect.MessageDescriptor) typev1.Kind {
	switch request.ParentFile().Package() {
	case "waybook.album.v1":
		return typev1.Kind_KIND_ALBUM
	case "waybook.blog.v1":
		return typev1.Kind_KIND_BLOG
	}
	return typev1.Kind_KIND_POI
}
