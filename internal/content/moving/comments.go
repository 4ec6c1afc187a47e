package moving

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/comments"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// commentsMoved tells how comments are stored.
var commentsMoved = child.Moved[comments.Comment]{
	Field: "comments",
	Identify: func(c *comments.Comment, id, parentID int64, requestKey string) {
		c.ID, c.ParentID, c.RequestKey = id, parentID, requestKey
	},
	ID:         func(c *comments.Comment) int64 { return c.ID },
	RequestKey: func(c *comments.Comment) string { return c.RequestKey },
	IsSame: func(a, b *comments.Comment) bool {
		return a.AuthorID == b.AuthorID && a.Text == b.Text && a.CreateTime.Equal(b.CreateTime) &&
			isSameGuest(a.Guest, b.Guest) && isSameReply(a.Reply, b.Reply)
	},
	Take: func(stored, from *comments.Comment) {
		stored.AuthorID, stored.Guest = from.AuthorID, from.Guest
		stored.Text, stored.CreateTime, stored.Reply = from.Text, from.CreateTime, from.Reply
	},
}

func isSameGuest(a, b *comments.Guest) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func isSameReply(a, b *comments.Reply) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Text == b.Text && a.CreateTime.Equal(b.CreateTime)
}

// Comments returns the comments of a record as they are stored.
func Comments(moved []*typev1.MovedComment) []Child[comments.Comment] {
	all := make([]Child[comments.Comment], len(moved))
	for i, each := range moved {
		document := comments.Comment{AuthorID: each.GetAuthorId(), CreateTime: Time(each.GetCreateTime()), Text: each.GetText()}
		if guest := each.GetGuest(); guest != nil {
			document.Guest = &comments.Guest{Name: guest.GetName(), IconURL: guest.GetIconUrl()}
		}
		if reply := each.GetReply(); reply != nil {
			document.Reply = &comments.Reply{CreateTime: Time(reply.GetCreateTime()), Text: reply.GetText()}
		}
		all[i] = Child[comments.Comment]{OldID: each.GetOldId(), Document: document}
	}
	return all
}

// Time returns a time as it is stored: in whole milliseconds.
func Time(t *timestamppb.Timestamp) time.Time { return t.AsTime().Truncate(time.Millisecond) }

// TimeOr returns a time, or another if it is not set.
func TimeOr(t, otherwise *timestamppb.Timestamp) time.Time {
	if t == nil {
		t = otherwise
	}
	return Time(t)
}
