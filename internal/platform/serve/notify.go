package serve

import (
	"log/slog"
	"net"

	"github.com/waybook/waybook/internal/platform/tracing"
)

// manager is the service manager that started the program, such as systemd. It is nil if none
// wants reports.
type manager struct {
	socket *net.UnixAddr
	log    *slog.Logger
}

// serviceManager returns the manager at the socket that NOTIFY_SOCKET names, as sd_notify(3)
// describes.
func serviceManager(lookupEnv tracing.LookupEnv, log *slog.Logger) *manager {
	path, _ := lookupEnv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	return &manager{&net.UnixAddr{Name: path, Net: "unixgram"}, log}
}

// report sends a state, such as READY=1. A failure is logged: the manager then ends a program
// that it believes not to be ready.
func (m *manager) report(state string) {
	if m == nil {
		return
	}
	connection, err := net.DialUnix("unixgram", nil, m.socket)
	if err == nil {
		_, err = connection.Write([]byte(state))
		_ = connection.Close() // the datagram is sent
	}
	if err != nil {
		m.log.Warn("failed to report to the service manager", "state", state, "error", err)
	}
}
