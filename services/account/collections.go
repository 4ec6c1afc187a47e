package account

import (
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
)

// user is a user as stored.
type user struct {
	ID         int64  `bson:"_id"`
	RequestKey string `bson:"request_key"`
	Name       string `bson:"name"`
	// IconURL is empty if the icon was uploaded.
	IconURL string `bson:"icon_url"`
	// Icon is the identifier of the file of an uploaded icon, or 0.
	Icon       int64     `bson:"icon,omitempty"`
	CreateTime time.Time `bson:"create_time"`
	// Email is the address as the user wrote it; empty if there is none.
	Email string `bson:"email"`
	// EmailKey is the result of emailKey or noEmailKey.
	EmailKey string `bson:"email_key"`
	// PasswordHash is the result of passwords.hash, or a hash of an old service in one of the
	// forms of docs/moving-in.md; empty if there is no password.
	PasswordHash string `bson:"password_hash"`
	// PasswordIsMoved: PasswordHash is as it was moved in, and the user has not logged in since.
	PasswordIsMoved bool `bson:"password_is_moved"`
	// NameKey is the result of nameKey.
	NameKey string `bson:"name_key"`
	// IsDisabled: the user cannot log in.
	IsDisabled bool `bson:"disabled"`
	// Hidden is isHidden if what the user owns and writes is hidden, and missing otherwise, so
	// that its index has only hidden users.
	Hidden int64 `bson:"hidden,omitempty"`
	// IsMoved: the user was moved in from an old service.
	IsMoved bool `bson:"moved"`
	// CredentialGeneration grows when all sessions of the user end, for example with a
	// new password.
	CredentialGeneration int64 `bson:"credential_generation"`
	// KeptSession is the id of the session of an earlier generation that stays open; empty for
	// none.
	KeptSession string `bson:"kept_session"`
}

// endSessions ends all sessions of the user but the one with the id kept; empty for none.
func (u *user) endSessions(kept string) {
	u.CredentialGeneration++
	u.KeptSession = kept
}

// byEmail makes an email address unique and finds the user who logs in with it.
func byEmail() docstore.Index1[string] {
	return docstore.Index1[string]{Name: "email", A: "email_key", Unique: true}
}

// byRequest finds the document that a request created.
func byRequest() docstore.Index1[string] {
	return docstore.Index1[string]{Name: docstore.RequestIndex, A: "request_key", Unique: true}
}

// byName finds users by the beginning of their nickname.
func byName() docstore.Index1[string] { return docstore.Index1[string]{Name: "name", A: "name_key"} }

// isHidden is the value of user.Hidden.
const isHidden = 1

// byHidden finds the hidden users.
func byHidden() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "hidden", A: "hidden", Sparse: true}
}

func usersSpec(settings service.Changes) docstore.Spec {
	return docstore.Spec{
		Name: "users", ID: docstore.Int64, Scheme: id.Scheme{}, Tombstones: true,
		Feed: &docstore.Feed{Settling: settings.Settling},
		Indexes: []docstore.Index{byRequest().Declare(), byEmail().Declare(), byName().Declare(),
			byHidden().Declare()},
	}
}

// session is an open session as stored.
type session struct {
	// ID is the SHA-256 of the session's secret, in hexadecimal. The secret itself is
	// not stored.
	ID     string `bson:"_id"`
	UserID int64  `bson:"user_id"`
	// ExpireMillis is when the session ends, in milliseconds since 1970.
	ExpireMillis int64 `bson:"expire_millis"`
	// CreateMillis is when the session was opened and UsedMillis its last recorded use, in
	// milliseconds since 1970.
	CreateMillis int64 `bson:"create_millis"`
	UsedMillis   int64 `bson:"used_millis"`
	// CredentialGeneration is that of the user when the password was checked, or else when the
	// session was opened. The session is open only while the user still has it, or keeps the
	// session.
	CredentialGeneration int64 `bson:"credential_generation"`
	// IsMoved: the session was opened in an old service.
	IsMoved bool `bson:"moved"`
}

// attempts counts failed login attempts in one time window, for an email address or from the
// widest network of a client.
type attempts struct {
	// ID is the result of attemptsID.
	ID string `bson:"_id"`
	// Failed are the attempts by client and by network, each of which is a SHA-256 of its address,
	// and those of everybody.
	Failed map[string]int64 `bson:"failed,omitempty"`
	// Judged is how many attempts changed the count, so that right ones change it too.
	Judged int64 `bson:"judged"`
	// ExpireMillis is when the count may be removed, in milliseconds since 1970.
	ExpireMillis int64 `bson:"expire_millis"`
}

// reward is a row of the ledger: a reward that a user received. It never changes.
type reward struct {
	// ID is the result of rewardID, so a user receives one reward per source.
	ID     string `bson:"_id"`
	Amount int64  `bson:"amount"`
}

// invitation lets one user register. It is used when a user has the request key of usedBy, so the
// write that makes the user uses it up.
type invitation struct {
	// ID is the SHA-256 of the code, in hexadecimal.
	ID string `bson:"_id"`
	// ExpireMillis is when the invitation ends, in milliseconds since 1970.
	ExpireMillis int64 `bson:"expire_millis"`
}

func invitationsSpec() docstore.Spec {
	return docstore.Spec{
		Name: "invitations", ID: docstore.String, Sharding: docstore.ByID,
		Indexes: []docstore.Index{byExpiry().Declare()},
	}
}

func sessionsSpec() docstore.Spec {
	// Almost every read is by id.
	return docstore.Spec{
		Name: "sessions", ID: docstore.String, Sharding: docstore.ByID,
		Indexes: []docstore.Index{byExpiry().Declare(), byUser().Declare()},
	}
}

func attemptsSpec() docstore.Spec {
	return docstore.Spec{
		Name: "login_attempts", ID: docstore.String, Sharding: docstore.ByID,
		Indexes: []docstore.Index{byExpiry().Declare()},
	}
}

func rewardsSpec() docstore.Spec {
	return docstore.Spec{Name: "rewards", ID: docstore.String, Sharding: docstore.ByID}
}

// byExpiry orders documents by their expiry time, for their removal.
func byExpiry() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "expiry", A: "expire_millis"}
}

// byUser finds a user's sessions, to list or count them.
func byUser() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "user", A: "user_id"}
}
