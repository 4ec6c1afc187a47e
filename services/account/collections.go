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
}

func usersSpec() docstore.Spec {
	return docstore.Spec{
		Name: "users",
		ID:   docstore.Int64,
		Indexes: []docstore.Index{
			// The user that a request made.
			{Name: docstore.RequestIndex, Unique: true, Fields: []docstore.Field{{Name: "request_key", Kind: docstore.String}}},
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
}

const (
	// expiryIndex orders sessions by when they end, for their removal.
	expiryIndex = "expiry"
	// userIndex finds the sessions of a user, for CloseAllSessions.
	userIndex = "user"
)

func sessionsSpec() docstore.Spec {
	return docstore.Spec{
		Name: "sessions",
		ID:   docstore.String,
		Indexes: []docstore.Index{
			{Name: expiryIndex, Fields: []docstore.Field{{Name: "expire_millis", Kind: docstore.Int64}}},
			{Name: userIndex, Fields: []docstore.Field{{Name: "user_id", Kind: docstore.Int64}}},
		},
	}
}
