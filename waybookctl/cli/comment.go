package cli

import (
	"context"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type commentCommands[K content] struct {
	Add    commentAdd[K]    `cmd:"" help:"Add a comment."`
	Reply  commentReply[K]  `cmd:"" help:"Reply to a comment, replacing an earlier reply."`
	List   commentList[K]   `cmd:"" help:"List the comments, oldest first."`
	Remove commentRemove[K] `cmd:"" help:"Remove a comment."`
}

type commentAdd[K content] struct {
	ID   int64  `arg:"" help:"The ${noun}'s identifier."`
	Text string `arg:"" help:"Text, 1 to 2,000 characters."`
	As   int64  `required:"" placeholder:"USER" help:"Author of the comment."`
}

// Run adds the comment.
func (c *commentAdd[K]) Run(ctx context.Context, call *services, out *output.Printer) error {
	var kind K
	added, err := kind.addComment(ctx, call, c.As, c.ID, c.Text)
	return printComment(out, added, err)
}

type commentReply[K content] struct {
	acting[K] `embed:""`

	ID      int64  `arg:"" help:"The ${noun}'s identifier."`
	Comment int64  `arg:"" help:"The comment's identifier."`
	Text    string `arg:"" help:"Text, 1 to 2,000 characters."`
}

// Run adds the reply.
func (c *commentReply[K]) Run(ctx context.Context, call *services, out *output.Printer) error {
	actor, err := c.actor(ctx, call, c.ID)
	if err != nil {
		return err
	}
	var kind K
	answered, err := kind.reply(ctx, call, actor, c.ID, c.Comment, c.Text)
	return printComment(out, answered, err)
}

type commentList[K content] struct {
	limit `embed:""`

	ID int64 `arg:"" help:"The ${noun}'s identifier."`
}

// Run lists the comments.
func (c *commentList[K]) Run(ctx context.Context, call *services, out *output.Printer) error {
	var kind K
	return output.Items(out, "comments", commentColumns(), pages(c.limit, func(page pageOf) ([]*typev1.Comment, string, error) {
		return kind.comments(ctx, call, c.ID, page)
	}))
}

type commentRemove[K content] struct {
	acting[K] `embed:""`

	ID      int64 `arg:"" help:"The ${noun}'s identifier."`
	Comment int64 `arg:"" help:"The comment's identifier."`
}

// Run removes the comment.
func (c *commentRemove[K]) Run(ctx context.Context, call *services, out *output.Printer) error {
	actor, err := c.actor(ctx, call, c.ID)
	if err != nil {
		return err
	}
	var kind K
	if err := kind.removeComment(ctx, call, actor, c.ID, c.Comment); err != nil {
		return err
	}
	out.Note("removed %d", c.Comment)
	return nil
}

func printComment(out *output.Printer, comment *typev1.Comment, err error) error {
	if err != nil {
		return err
	}
	return out.Value(output.FromProto(comment), func(page *output.Page) { output.Record(page, commentColumns(), comment) })
}

func commentColumns() []output.Column[*typev1.Comment] {
	return []output.Column[*typev1.Comment]{
		{Head: "COMMENT", Cell: func(c *typev1.Comment) string { return number(c.GetCommentId()) }},
		{Head: "AUTHOR", Cell: func(c *typev1.Comment) string { return profileText(c.GetAuthor()) }},
		{Head: "CREATED", Cell: func(c *typev1.Comment) string { return output.Time(c.GetCreateTime()) }},
		{Head: "TEXT", Cell: (*typev1.Comment).GetText},
		{Head: "REPLY", Cell: func(c *typev1.Comment) string { return c.GetReply().GetText() }},
	}
}
