package operation

import (
	"fmt"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// maxChoices is the most choices of a vote.
const maxChoices = 20

// The parameters of votes (rules 17.13 and 17.14).
var (
	paramVoteDescription = form.Parameter{Name: "voteDescription", Hint: "1 to 500 characters"}
	paramChoices         = choiceParameters()
	paramChoice          = form.Parameter{Name: "choice", Hint: "1 to 20, a position", Syntax: form.IntegerSyntax}
)

// choiceParameters returns choice1 to choice20, and one more, which is refused.
func choiceParameters() (all [maxChoices + 1]form.Parameter) {
	for i := range all {
		all[i] = form.Parameter{Name: fmt.Sprint("choice", i+1), Hint: "1 to 200 characters"}
	}
	return all
}

// choiceFields are the fields that the choices feed.
var choiceFields = func() (all [maxChoices]string) {
	for i := range all {
		all[i] = fmt.Sprintf("vote.choices[%d]", i)
	}
	return all
}()

// postBlogRequest returns the function that reads the parameters of postBlog. A vote is an addition.
func postBlogRequest(c *Config) func(*Input) *blogv1.CreateBlogRequest {
	if c.Additions == AdditionsWithheld {
		return createBlogRequest
	}
	return createBlogAndVoteRequest
}

// createBlogAndVoteRequest reads the parameters of postBlog (rules 7.5 and 17.13).
func createBlogAndVoteRequest(in *Input) *blogv1.CreateBlogRequest {
	request := createBlogRequest(in)
	request.Vote = optionalVote(in)
	return request
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

// castBallotRequest reads the parameters of castVote (rule 17.14).
func castBallotRequest(in *Input) *blogv1.CastBallotRequest {
	return &blogv1.CastBallotRequest{
		VoterId: int64(in.User),
		BlogId:  required(in, &paramBlogID, "blog_id", form.ID),
		Choice:  required(in, &paramChoice, "choice", form.Int32),
	}
}

func writeVoteNow(out reply.Writer, response *blogv1.CastBallotResponse) {
	writeVote(out, response.GetVote())
}
