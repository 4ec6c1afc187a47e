//go:build race

package conformance

const hasRaceDetector = true
