package edge

import (
	"net/http"
	"time"
)

// PatientWriter sends a reply to a client that may take DefaultWriteTimeout for each piece.
type PatientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// NewPatientWriter returns a writer around another one. Without deadlines, as in tests, the client may take any time.
func NewPatientWriter(w http.ResponseWriter) PatientWriter {
	return PatientWriter{w, http.NewResponseController(w)}
}

// Unwrap returns the writer below, for [http.ResponseController].
func (w PatientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader begins the reply, which may have no body.
func (w PatientWriter) WriteHeader(status int) {
	w.extend()
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a piece of the reply.
func (w PatientWriter) Write(piece []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(piece)
}

func (w PatientWriter) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(DefaultWriteTimeout)) }
