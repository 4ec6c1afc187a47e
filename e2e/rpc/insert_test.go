package rpc_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

func TestAUserOfAnOldServiceMovesInWithSessionAndRewardOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		client, token := moveinv1.NewMoveInServiceClient(p.Connection), strings.Repeat("ab", 16)
		records := []*moveinv1.Record{
			{Record: &moveinv1.Record_User{User: &moveinv1.User{Id: 7, Name: "安", Email: "Ann@waybook.example", PasswordHash: "8743b52063cd84097a65d1633f5c74f5"}}},
			{Record: &moveinv1.Record_Session{Session: &moveinv1.Session{UserId: 7, Idrand: token}}},
			{Record: &moveinv1.Record_Reward{Reward: &moveinv1.Reward{Id: "1", UserId: 7, Amount: 10}}},
			{Record: &moveinv1.Record_User{User: &moveinv1.User{Id: 8, Name: "Bo", Email: "ANN@waybook.example"}}},
		}
		expect := func(isDry bool, outcome moveinv1.Outcome) {
			t.Helper()
			reply := must(client.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: records, ValidateOnly: isDry}))(t)
			var got []moveinv1.Outcome
			for _, result := range reply.GetResults() {
				got = append(got, result.GetOutcome())
			}
			if want := append(slices.Repeat([]moveinv1.Outcome{outcome}, 3), moveinv1.Outcome_OUTCOME_REFUSED); !slices.Equal(got, want) {
				t.Errorf("dry %t: %v", isDry, reply)
			}
		}
		expect(true, moveinv1.Outcome_OUTCOME_INSERTED)
		expect(false, moveinv1.Outcome_OUTCOME_INSERTED)
		must(p.Account.VerifySession(t.Context(), &accountv1.VerifySessionRequest{UserId: 7, Token: token}))(t)
		p.newBrowser(t, p.Account, "192.0.2.1").expectLogin("the old password", "ann@waybook.example", "hashcat", "")
		if total := must(p.Account.GetRewardTotal(t.Context(), &accountv1.GetRewardTotalRequest{UserId: 7}))(t); total.GetTotal() != 10 {
			t.Errorf("rewards %v", total)
		}
		expect(true, moveinv1.Outcome_OUTCOME_UNCHANGED)
		expect(false, moveinv1.Outcome_OUTCOME_UNCHANGED)
		_, err := client.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: append(records, &moveinv1.Record{})})
		expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "records[4]")
	})
}
