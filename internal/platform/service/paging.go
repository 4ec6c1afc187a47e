package service

// StreamBatch is how many items a stream sends in one message. A reader that stops holds a
// few batches in memory until it is cut off. 200 is about 5 % slower than 500 and needs
// half its memory (BenchmarkReadersThatStop in e2e/load).
const StreamBatch = 200

// PageSize returns the requested page size, or the method's default if there is none.
func PageSize(asked int32, byDefault int) int {
	if asked == 0 {
		return byDefault
	}
	return int(asked)
}
