package account

import (
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// user is a user as stored.
type user struct {
	ID         int64     `bson:"_id"`
	RequestKey string    `bson:"request_key"`
	Name       string    `bson:"name"`
	IconURL    string    `bson:"icon_url"`
	CreateTime time.Time `bson:"create_time"`
	// Email is the address as given; empty when there is none.
	Email string `bson:"email"`
	// EmailKey is what emailKey or noEmailKey made.
	EmailKey string `bson:"email_key"`
	// PasswordHash is what passwords.hash made; empty when there is no password.
	PasswordHash string `bson:"password_hash"`
}

// emailIndex lets an address be of one user, and finds who logs in with it.
const emailIndex = "email"

func usersSpec() docstore.Spec {
	return docstore.Spec{
		Name: "users",
		ID:   docstore.Int64,
		Indexes: []docstore.Index{
			// The user that a request made.
			{Name: docstore.RequestIndex, Unique: true, Fields: []docstore.Field{{Name: "request_key", Kind: docstore.String}}},
			{Name: emailIndex, Unique: true, Fields: []docstore.Field{{Name: "email_key", Kind: docstore.String}}},
		},
	}
}

// session is an open session as stored.
type session struct {
	// ID is the SHA-256 of the session's secret, in hexadecimal: the secret itself
	// is kept nowhere.
	ID     string `bson:"_id"`
	UserID int64  `bson:"user_id"`
	// ExpireMillis is when it ends, in milliseconds since 1970.
	ExpireMillis int64 `bson:"expire_millis"`
	// CreateMillis is when it was opened and UsedMillis when it was last used, as far as
	// that was noted. Older sessions have 0.
	CreateMillis int64 `bson:"create_millis"`
	UsedMillis   int64 `bson:"used_millis"`
}

// attempts counts attempts to log in within one window of time: those for an email
// address, or those from a client's address.
type attempts struct {
	// ID is what attemptsID made.
	ID    string `bson:"_id"`
	Count int64  `bson:"count"`
	// ExpireMillis is when nobody counts on it any more, in milliseconds since 1970.
	ExpireMillis int64 `bson:"expire_millis"`
}

// reward is a reward that a user got.
type reward struct {
	// ID is what rewardID made: a user gets one reward for each source.
	ID     string `bson:"_id"`
	UserID int64  `bson:"user_id"`
	Amount int64  `bson:"amount"`
}

// application is an application as stored.
type application struct {
	// Key is the application's key.
	Key        string `bson:"_id"`
	RequestKey string `bson:"request_key"`
	Name       string `bson:"name"`
	// Secret is the secret itself: no HMAC can be made of a hash of it.
	Secret      string    `bson:"secret"`
	AllowLegacy bool      `bson:"allow_legacy"`
	Disabled    bool      `bson:"disabled"`
	CreateTime  time.Time `bson:"create_time"`
	SecretTime  time.Time `bson:"secret_time"`
}

func applicationsSpec() docstore.Spec {
	return docstore.Spec{
		Name: "applications", ID: docstore.String,
		Indexes: []docstore.Index{
			// The application that a request made.
			{Name: docstore.RequestIndex, Unique: true, Fields: []docstore.Field{{Name: "request_key", Kind: docstore.String}}},
		},
	}
}

// usedSignature is a signature that can't be used again.
type usedSignature struct {
	// ID is what signatureID made.
	ID string `bson:"_id"`
	// RequestID is the call that used it.
	RequestID string `bson:"request_id"`
	// ExpireMillis is when nobody would take it any more, in milliseconds since 1970.
	ExpireMillis int64 `bson:"expire_millis"`
}

func usedSignaturesSpec() docstore.Spec {
	return docstore.Spec{
		Name: "used_signatures", ID: docstore.String, Sharding: docstore.ByID, Indexes: []docstore.Index{byExpiry()},
	}
}

const (
	// expiryIndex orders what expires by when it does, for its removal.
	expiryIndex = "expiry"
	// userIndex finds the sessions of a user, to close them, and the rewards of a
	// user, to sum them up.
	userIndex = "user"
)

func sessionsSpec() docstore.Spec {
	// Almost every read is by id.
	return docstore.Spec{
		Name: "sessions", ID: docstore.String, Sharding: docstore.ByID, Indexes: []docstore.Index{byExpiry(), byUser()},
	}
}

func attemptsSpec() docstore.Spec {
	return docstore.Spec{
		Name: "login_attempts", ID: docstore.String, Sharding: docstore.ByID, Indexes: []docstore.Index{byExpiry()},
	}
}

func rewardsSpec() docstore.Spec {
	return docstore.Spec{Name: "rewards", ID: docstore.String, Indexes: []docstore.Index{byUser()}}
}

func byExpiry() docstore.Index {
	return docstore.Index{Name: expiryIndex, Fields: []docstore.Field{{Name: "expire_millis", Kind: docstore.Int64}}}
}

func byUser() docstore.Index {
	return docstore.Index{Name: userIndex, Fields: []docstore.Field{{Name: "user_id", Kind: docstore.Int64}}}
}
