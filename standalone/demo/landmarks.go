package demo

import poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"

// landmark is a real place.
type landmark struct {
	name     string
	category poiv1.PoiCategory
	lat, lng float64
}

// landmarks are real places in Taiwan, in WGS 84.
func landmarks() []landmark {
	const (
		tender    = poiv1.PoiCategory_POI_CATEGORY_TENDER
		bargain   = poiv1.PoiCategory_POI_CATEGORY_BARGAIN
		private   = poiv1.PoiCategory_POI_CATEGORY_PRIVATE
		community = poiv1.PoiCategory_POI_CATEGORY_COMMUNITY
		thrill    = poiv1.PoiCategory_POI_CATEGORY_THRILL
	)
	return []landmark{
		{"淡水漁人碼頭", tender, 25.1836, 121.4112},
		{"日月潭向山遊客中心", tender, 23.8519, 120.9028},
		{"貓空纜車貓空站", tender, 24.9683, 121.5878},
		{"陽明山擎天崗", tender, 25.1676, 121.5743},
		{"碧潭吊橋", tender, 24.9569, 121.5366},
		{"愛河之心", tender, 22.6498, 120.3030},
		{"士林夜市", bargain, 25.0881, 121.5242},
		{"饒河街觀光夜市", bargain, 25.0510, 121.5775},
		{"逢甲夜市", bargain, 24.1797, 120.6463},
		{"六合觀光夜市", bargain, 22.6320, 120.3010},
		{"台南花園夜市", bargain, 23.0113, 120.2005},
		{"基隆廟口夜市", bargain, 25.1283, 121.7433},
		{"羅東夜市", bargain, 24.6765, 121.7693},
		{"九份老街", private, 25.1099, 121.8452},
		{"十分瀑布", private, 25.0489, 121.7877},
		{"奮起湖車站", private, 23.5045, 120.6944},
		{"司馬庫斯", private, 24.5789, 121.3350},
		{"蘭嶼", private, 22.0480, 121.5481},
		{"國立故宮博物院", community, 25.1024, 121.5485},
		{"中正紀念堂", community, 25.0347, 121.5217},
		{"艋舺龍山寺", community, 25.0371, 121.4999},
		{"台北101", community, 25.0340, 121.5645},
		{"赤崁樓", community, 22.9975, 120.2025},
		{"安平古堡", community, 23.0015, 120.1606},
		{"鹿港龍山寺", community, 24.0502, 120.4357},
		{"國立自然科學博物館", community, 24.1572, 120.6660},
		{"臺中國家歌劇院", community, 24.1627, 120.6405},
		{"六福村主題遊樂園", thrill, 24.8226, 121.1817},
		{"劍湖山世界", thrill, 23.6190, 120.5786},
		{"義大遊樂世界", thrill, 22.7322, 120.4095},
		{"麗寶樂園", thrill, 24.3236, 120.6976},
		{"九族文化村", thrill, 23.8680, 120.9505},
		{"太魯閣國家公園遊客中心", thrill, 24.1580, 121.6220},
		{"清水斷崖", thrill, 24.2189, 121.6894},
	}
}
