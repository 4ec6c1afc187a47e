package service

// StreamBatch is how many items a long list sends at a time. A reader that stops
// holds a few batches until it is cut off; 200 cost a twentieth of the speed of 500
// and half its memory (BenchmarkReadersThatStop in e2e/load).
const StreamBatch = 200

// PageSize is the size of a page: what was asked for, or the method's default when
// nothing was.
func PageSize(asked int32, byDefault int) int {
	if asked == 0 {
		return byDefault
	}
	return int(asked)
}
