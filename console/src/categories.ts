// The words of the legacy contract for categories, types, weathers and maps (rules 5.2, 6.2, 7.2, 7.4 and 7.11), in
// the language of the page. The description has each word in one language.

import { language } from './i18n'

const english: Record<string, string> = {
  女生個人: 'Girls',
  男生個人: 'Boys',
  家庭親情: 'Family',
  校園生活: 'Campus',
  國內旅遊: 'Domestic travel',
  國外旅遊: 'Foreign travel',
  美食記錄: 'Food',
  寶貝寵物: 'Pets',
  情侶合照: 'Couples',
  朋友團體: 'Friends',
  甜蜜婚禮: 'Weddings',
  影視娛樂: 'Entertainment',
  攝影外拍: 'Photo shoots',
  自然風景: 'Landscapes',
  圖像創作: 'Artwork',
  其它類別: 'Other',
  溫柔鄉: 'Tender',
  好康鄉: 'Bargain',
  私の鄉: 'Private',
  萬家鄉: 'Community',
  尖叫鄉: 'Thrill',
  愛情日記: 'Love',
  寵物日記: 'Pets',
  心情日記: 'Mood',
  新聞日記: 'News',
  美食日記: 'Food',
  美妝日記: 'Beauty',
  快樂日記: 'Joy',
  友情日記: 'Friendship',
  旅遊日記: 'Travel',
  晴空萬里: 'Clear sky',
  狂風暴雨: 'Storm',
  陰雨綿綿: 'Lasting rain',
  雨過天晴: 'Clearing up',
  烏雲滿天: 'Overcast',
  大雪數日: 'Days of snow',
  有彩虹: 'Rainbow',
}

const chinese: Record<string, string> = { map: '地圖', satellite: '衛星', hybrid: '混合' }

/** Returns a word of the contract in the language of the page, or itself if that language has no other. */
export function inLanguage(word: string): string {
  const table = language.value === 'en' ? english : chinese
  return Object.hasOwn(table, word) ? table[word]! : word
}
