package operation

import (
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
)

// recommend recommends content for the user (rule 17.12).
func recommend(c *Config) Function {
	return Function{
		Name: "recommend", Rule: "17.12", Title: form.Title{"Recommend", "推薦"}, Effect: Writes, IsAddition: true,
		Operations: of(c, anyContent, func(in *Input, of content) *recommendationv1.RecommendRequest {
			return about(in, of, &recommendationv1.RecommendRequest{UserId: int64(in.User)})
		}, c.Recommendation.Recommend, writeScore),
	}
}

// withdrawRecommendation takes the user's recommendation back (rule 17.12).
func withdrawRecommendation(c *Config) Function {
	return Function{
		Name: "withdrawRecommendation", Rule: "17.12", Title: form.Title{"Withdraw a recommendation", "收回推薦"}, Effect: Writes, IsAddition: true,
		Operations: of(c, anyContent, func(in *Input, of content) *recommendationv1.WithdrawRequest {
			return about(in, of, &recommendationv1.WithdrawRequest{UserId: int64(in.User)})
		}, c.Recommendation.Withdraw, writeScore),
	}
}

// writeScore writes the number of recommendations as it is now.
func writeScore[Response interface{ GetScore() int64 }](out reply.Writer, response Response) {
	out.Integer("score", response.GetScore())
}

// castVote casts the ballot of the user in the vote of an entry (rule 17.14).
func castVote(c *Config) Function {
	return Function{
		Name: "castVote", Rule: "17.14", Title: form.Title{"Vote", "投票"}, Effect: Writes, IsAddition: true,
		Operations: only(unary(c, func(in *Input) *blogv1.CastBallotRequest {
			return &blogv1.CastBallotRequest{
				VoterId: int64(in.User),
				BlogId:  required(in, &paramBlogID, "blog_id", form.ID),
				Choice:  required(in, &paramChoice, "choice", form.Int32),
			}
		}, c.Blog.CastBallot, func(out reply.Writer, response *blogv1.CastBallotResponse) {
			writeVote(out, response.GetVote())
		})),
	}
}

var paramChoice = form.Parameter{Name: "choice", Title: form.Title{"Choice", "選項"}, Hint: "1 to 20, a position", Syntax: form.IntegerSyntax}

// writeVote writes a vote (rule 7.20). It writes all choices at once, because there are few.
func writeVote(out reply.Writer, vote *blogv1.Vote) {
	out.Begin("vote")
	out.Text("description", vote.GetDescription())
	out.BeginList("choices")
	for i, choice := range vote.GetChoices() {
		out.BeginItem("choice", i+1)
		out.Text("description", choice.GetDescription())
		out.Integer("votes", choice.GetVotes())
		out.EndItem("choice", i+1)
	}
	out.EndList("choices")
	out.End("vote")
}
