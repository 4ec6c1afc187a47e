package operation

import (
	"fmt"
	"strconv"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// postBlog makes an entry of the user (rule 7.5), which may hold a vote (rule 17.13).
func postBlog(c *Config) Function {
	return Function{
		Name: "postBlog", Rule: "7.5", Title: form.Title{"Post a diary entry", "發表日記"}, Effect: Writes,
		Operations: only(unary(c, func(in *Input) *blogv1.CreateBlogRequest {
			request := &blogv1.CreateBlogRequest{
				RequestId:   newRequestID(),
				AuthorId:    int64(in.User),
				Type:        required(in, &paramBlogType, "type", asBlogType),
				Location:    requiredLocation(in),
				Title:       required(in, &paramBlogTitle, "title", form.Text),
				Content:     required(in, &paramBlogContent, "content", form.Text),
				PostDate:    requiredDate(in),
				Weather:     required(in, &paramWeather, "weather", asWeather),
				ReplyBlogId: form.Or(optional(in, &paramReplyBlogID, "reply_blog_id", asQuote), 0),
				ZoomLevel:   optional(in, &paramZoomLevel, "zoom_level", form.Int32),
				MapType:     form.Or(optional(in, &paramMapType, "map_type", form.Enum[blogv1.MapType]), 0),
			}
			if c.Additions == AdditionsServed {
				request.Vote = optionalVote(in)
			}
			return request
		}, c.Blog.CreateBlog, func(out reply.Writer, response *blogv1.CreateBlogResponse) {
			out.ID("blogID", response.GetBlog().GetBlogId(), "")
			out.Integer("reward", response.GetBlog().GetReward())
		})),
	}
}

// maxChoices is the most choices of a vote.
const maxChoices = 20

var (
	paramVoteDescription = form.Parameter{Name: "voteDescription", Title: form.Title{"Question of the vote", "投票題目"},
		Hint: "1 to 500 characters", EmptyIsAbsent: true}
	// paramChoices are choice1 to choice20, and one more, which is refused. choiceFields are the
	// fields that they feed.
	paramChoices, choiceFields = choices()
)

func choices() (parameters [maxChoices + 1]form.Parameter, fields [maxChoices + 1]string) {
	for i := range parameters {
		number := strconv.Itoa(i + 1)
		parameters[i] = form.Parameter{
			Name: "choice" + number, Title: form.Title{"Choice " + number, "選項 " + number},
			Hint: "1 to 200 characters", EmptyIsAbsent: true,
		}
		fields[i] = fmt.Sprintf("vote.choices[%d]", i)
	}
	return parameters, fields
}

// optionalVote reads the parameters of a vote. If any is sent, the description is required, and so
// are two choices and every choice before the last.
func optionalVote(in *Input) *blogv1.NewVote {
	isSent, needed := in.Has(&paramVoteDescription), 0
	for i := range paramChoices {
		if in.Has(&paramChoices[i]) {
			isSent, needed = true, i+1
		}
	}
	if isSent {
		needed = max(needed, 2)
	}
	vote := &blogv1.NewVote{Description: textIf(isSent, in, &paramVoteDescription, "vote.description")}
	for i := range paramChoices[:maxChoices] {
		if text := textIf(i < needed, in, &paramChoices[i], choiceFields[i]); i < needed {
			vote.Choices = append(vote.Choices, text)
		}
	}
	if needed > maxChoices {
		in.Reject(&paramChoices[maxChoices], "a vote has 2 to 20 choices")
	}
	if !isSent {
		return nil
	}
	return vote
}

// textIf reads a text that is required only under a condition.
func textIf(isRequired bool, in *Input, p *form.Parameter, field string) string {
	if isRequired {
		return required(in, p, field, form.Text)
	}
	return form.Or(optional(in, p, field, form.Text), "")
}
