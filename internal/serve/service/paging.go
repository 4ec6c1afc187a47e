package service

// StreamBatch is how many items a long list sends at a time.
const StreamBatch = 500

// PageSize is the size of a page: what was asked for, or the method's default when
// nothing was.
func PageSize(asked int32, byDefault int) int {
	if asked == 0 {
		return byDefault
	}
	return int(asked)
}
