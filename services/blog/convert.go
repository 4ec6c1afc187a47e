package blog

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/profiles"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func blogProto(b blog, author profiles.Profile) *blogv1.Blog {
	return &blogv1.Blog{
		BlogId:      b.ID,
		Author:      author.Proto(b.AuthorID),
		Type:        blogv1.BlogType(b.Type),
		Location:    &typev1.Location{Lat: b.Lat, Lng: b.Lng},
		Title:       b.Title,
		Content:     b.Content,
		PostDate:    b.PostDay.proto(),
		Weather:     blogv1.Weather(b.Weather),
		ReplyBlogId: b.ReplyBlogID,
		ZoomLevel:   b.ZoomLevel,
		MapType:     blogv1.MapType(b.MapType),
		Score:       b.Score + b.UnnamedScore,
		Vote:        voteProto(b.Vote),
		Reward:      b.Reward,
		CreateTime:  timestamppb.New(b.CreateTime),
		UpdateTime:  timestamppb.New(b.UpdateTime),
		OldId:       aliases.OldID(b.ID, b.RequestKey),
		ReplyOldId:  b.ReplyOldID,
	}
}

func voteProto(v *vote) *blogv1.Vote {
	if v == nil {
		return nil
	}
	shown := &blogv1.Vote{Description: v.Description, Choices: make([]*blogv1.Choice, len(v.Choices))}
	for i, c := range v.Choices {
		shown.Choices[i] = &blogv1.Choice{Description: c.Description, Votes: c.Votes + c.UnnamedVotes}
	}
	return shown
}

func voteFromProto(asked *blogv1.NewVote) *vote {
	if asked == nil {
		return nil
	}
	v := &vote{Description: asked.GetDescription()}
	for _, description := range asked.GetChoices() {
		v.Choices = append(v.Choices, choice{Description: description})
	}
	return v
}

func dayFromProto(d *typev1.Date) day {
	return newDay(int(d.GetYear()), int(d.GetMonth()), int(d.GetDay()))
}

func (d day) proto() *typev1.Date {
	return &typev1.Date{Year: int32(d / 10_000), Month: int32(d / 100 % 100), Day: int32(d % 100)}
}
