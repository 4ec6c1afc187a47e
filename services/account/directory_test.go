package account

import (
	"slices"
	"testing"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// listUsers returns the names of the users that a request lists, in pages of two.
func (s *server) listUsers(t testing.TB, request *accountv1.ListUsersRequest) (names []string) {
	t.Helper()
	request.PageSize = 2
	for {
		page, err := s.ListUsers(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range page.GetUsers() {
			names = append(names, u.GetName())
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return names
		}
	}
}

func byNamePrefix(prefix string) *accountv1.ListUsersRequest {
	return &accountv1.ListUsersRequest{Prefix: &accountv1.ListUsersRequest_NamePrefix{NamePrefix: prefix}}
}

func byEmailPrefix(prefix string) *accountv1.ListUsersRequest {
	return &accountv1.ListUsersRequest{Prefix: &accountv1.ListUsersRequest_EmailPrefix{EmailPrefix: prefix}}
}

func TestUsersAreListedByTheBeginningOfNameOrAddressInAnyLetterCase(t *testing.T) {
	s := newBench(t).newServer(t)
	s.resultsOf(t, false,
		&moveinv1.User{Id: 1, Name: "Ann", Email: "Zed@waybook.example"},
		&moveinv1.User{Id: 2, Name: "anna", Email: "ann@waybook.example"},
		&moveinv1.User{Id: 3, Name: "ANNABEL", Email: "Anna.Bel@waybook.example"},
		&moveinv1.User{Id: 4, Name: "Bann"},
		&moveinv1.User{Id: 5, Name: "小旅人", Email: "#x@waybook.example"},
		&moveinv1.User{Id: 6, Name: "小明"},
	)
	for _, c := range []struct {
		request *accountv1.ListUsersRequest
		want    []string
	}{
		{&accountv1.ListUsersRequest{}, []string{"Ann", "anna", "ANNABEL", "Bann", "小旅人", "小明"}},
		{byNamePrefix("ANN"), []string{"Ann", "anna", "ANNABEL"}},
		{byNamePrefix("annab"), []string{"ANNABEL"}},
		{byNamePrefix("小"), []string{"小旅人", "小明"}},
		{byNamePrefix("="), nil},
		{byNamePrefix("nn"), nil},
		{byEmailPrefix("ANN"), []string{"anna", "ANNABEL"}},
		{byEmailPrefix("ann@waybook.example"), []string{"anna"}},
		{byEmailPrefix("#"), []string{"小旅人"}}, // and no key of a user without an address
	} {
		got := s.listUsers(t, c.request)
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v listed %q, want %q", c.request, got, c.want)
		}
	}
}

func TestARenamedUserIsListedByTheNewNameOnly(t *testing.T) {
	s := newBench(t).newServer(t)
	id := s.newUser(t, "a@waybook.example", "")
	name, email := "Zoë", "z@waybook.example"
	if _, err := s.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: id, Name: &name, Email: &email}); err != nil {
		t.Fatal(err)
	}
	for request, want := range map[*accountv1.ListUsersRequest]int{
		byNamePrefix("x"): 0, byNamePrefix("zoË"): 1, byEmailPrefix("a@"): 0, byEmailPrefix("z@"): 1,
	} {
		if got := s.listUsers(t, request); len(got) != want {
			t.Errorf("%v listed %q", request, got)
		}
	}
}
