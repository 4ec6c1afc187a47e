// What a failure means to a programmer and what to do. The edge describes its failures in English.

import { signal } from '@preact/signals'
import { language } from '../i18n'

interface Failure {
  reason: string
  info: string
  /** The HTTP status. */
  status: number
  meaning: string
  action: string
}

/** What the edge says of each failure; empty until it is loaded. */
const described = signal<readonly Failure[]>([])

/** Loads what the edge says. Without it, the page knows its own words only. */
export async function loadFailures(): Promise<void> {
  if (described.value.length > 0) return
  const response = await fetch('console/failures.json').catch(() => undefined)
  if (response?.ok) described.value = (await response.json()) as Failure[]
}

export interface FailureText {
  /** Empty if the reason is not described. */
  meaning: string
  action: string
}

/** Returns the description of a failure in the current language, or the edge's if the page has none. */
export function failureText(reason: string, info: string): FailureText {
  const chinese = language.value === 'en' ? undefined : inChinese[reason]
  if (chinese) return { meaning: chinese[0], action: chinese[1] }
  const all = described.value.filter(each => each.reason === reason)
  const found = all.find(each => each.info === info) ?? all[0]
  return { meaning: sentence(found?.meaning), action: sentence(found?.action) }
}

function sentence(text = ''): string {
  if (text === '') return ''
  const plain = text.replaceAll('`', '')
  const first = plain.charAt(0).toUpperCase() + plain.slice(1)
  return /[.!?]$/.test(first) ? first : first + '.'
}

const retry = '請稍後再試；標頭 Retry-After 說明需等待的秒數。'

const inChinese: Record<string, readonly [meaning: string, action: string]> = {
  MISSING_PARAMETER: ['缺少必填參數。', '請補上 info 所列的參數。'],
  INVALID_PARAMETER: ['參數超出範圍或格式錯誤。', '請依 info 括號內的說明修正參數。'],
  QUOTED_BLOG_NOT_FOUND: ['引用的日記不存在。', '請更正 replyBlogID，或不要送出。'],
  INVALID_ENCODING: ['百分號編碼錯誤、不是有效的 UTF-8，或含有 XML 1.0 無法表示的字元。', '請以 UTF-8 編碼，並移除控制字元。'],
  INVALID_CONTENT_TYPE: ['請求內容不是服務接受的表單。', '請使用 Content-Type: application/x-www-form-urlencoded。'],
  CONTENT_ENCODING_NOT_ACCEPTED: ['請求內容經過壓縮。', '請移除標頭 Content-Encoding，並送出未壓縮的內容。'],
  INVALID_MULTIPART: ['multipart 格式的請求內容錯誤。', '請依 multipart/form-data 的格式產生內容，或使用 application/x-www-form-urlencoded。'],
  FILE_NOT_ACCEPTED: ['請求含有服務不接受的檔案。', '請移除檔案。'],
  TOO_MANY_PARAMETERS: ['參數超過 100 個。', '請減少參數。'],
  POST_REQUIRED: ['寫入操作以 GET 或 HEAD 送出。', '請改用 POST。'],
  LOGIN_REQUIRED: ['沒有 Cookie，或登入已失效。', '請登入後再送出。'],
  PASSWORD_INCORRECT: ['沒有使用者使用這組電子郵件與密碼。', '請檢查後重新輸入。'],
  EMAIL_TAKEN: ['已有使用者使用此電子郵件。', '請登入，或改用其他電子郵件。'],
  REGISTRATION_CLOSED: ['此服務不開放註冊（-registration）。', '請向管理者索取帳號。'],
  INVITATION_INVALID: ['邀請碼不存在、已使用或已過期。', '請向管理者索取新的邀請碼。'],
  NOT_OWNER: ['此內容屬於其他使用者。', '請以擁有者的身分登入。'],
  ALBUM_NOT_FOUND: ['沒有相簿使用此識別碼，或已被刪除。', '請用 getUserAlbumList 查詢識別碼。'],
  BLOG_NOT_FOUND: ['沒有日記使用此識別碼，或已被刪除。', '請用 getUserBlogList 查詢識別碼。'],
  POI_NOT_FOUND: ['沒有地標使用此識別碼。', '請用 getCategoryPOIList 查詢識別碼。'],
  USER_NOT_FOUND: ['沒有使用者使用此識別碼。', '請檢查 userID。'],
  PHOTO_NOT_FOUND: ['沒有相片使用此識別碼，或已被移除。', '請重新讀取內容以取得識別碼。'],
  ICON_NOT_FOUND: ['此使用者已更換頭像、已被隱藏，或不存在。', '請重新讀取頭像位址。'],
  UPLOADS_OFF: ['服務不接受檔案（-max-photo-bytes 0），或不接受地標的檔案（未設定 -public-url）。', '請改送相片的位址。'],
  PHOTO_NOT_SUPPORTED: ['檔案不是 JPEG、PNG、WebP 或 GIF，或屬於少見的種類，例如 iPhone 的 HEIC。', '請另存為 JPEG。'],
  PHOTO_TOO_LARGE: ['檔案超過 -max-photo-bytes（預設 20 MiB），或像素太多，服務的記憶體不足。', '請縮小相片。'],
  PHOTO_DAMAGED: ['檔案提早結束，或不符合其格式。', '請重新傳送或修復檔案。'],
  REQUEST_ID_REUSED: ['先前的請求以同一個 requestID 要求了不同的內容。', '請改用新的 UUID。'],
  COMMENT_NOT_FOUND: ['沒有留言使用此識別碼，或已被移除。', '請重新讀取內容以取得識別碼。'],
  COMMENT_LIMIT_REACHED: ['此使用者在這份內容的留言已達上限。', '請先移除一則留言。'],
  VOTE_NOT_FOUND: ['此日記沒有投票。', '請選擇有投票的日記。'],
  CHOICE_NOT_FOUND: ['投票沒有此選項。', '請用 getBlog 查詢選項。'],
  ALREADY_VOTED: ['使用者已在此投票中投過票。', '每位使用者只能投一次。'],
  CONFLICT: ['其他寫入同時變更了同一份內容。', '請再送出一次。'],
  INTERNAL_ERROR: ['伺服器發生錯誤。', '請將標頭 X-Request-Id 告知管理者，其記錄檔載有原因。'],
  UNREADABLE_REQUEST: ['請求內容提早結束。', '請再送出一次。'],
  REQUEST_TIMEOUT: ['請求內容傳送超過 30 秒。', '請檢查網路後再送出一次。'],
  CROSS_SITE_REQUEST: ['瀏覽器回報此寫入來自其他網站的頁面。', '請從服務自己的頁面送出，或由管理者設定 -trusted-origins。'],
  NOT_FOUND: ['路徑不是 /API.php。', '請更正路徑。'],
  METHOD_NOT_ALLOWED: ['方法不是 GET、HEAD 或 POST。', '請改用 GET 或 POST。'],
  REQUEST_TOO_LARGE: ['表單超過 2 MiB。', '請縮短內容。'],
  TOO_MANY_REQUESTS: ['此位址的請求超過速率限制。', retry],
  TOO_MANY_MISSES: ['此位址查詢不存在內容的次數過多。', retry],
  TOO_MANY_WRITES: ['此使用者的寫入超過速率限制。', retry],
  TOO_MANY_COMMENTS: ['此使用者在這份內容的留言超過速率限制。', retry],
  TOO_MANY_LONG_REPLIES: ['此位址同時讀取的長清單已達上限。', retry],
  TOO_MANY_ATTEMPTS: ['登入失敗次數過多。', '請等到下一個一刻鐘再試。'],
  TOO_MANY_UPLOADS: ['此位址同時傳送的檔案已達上限。', retry],
  SERVICE_BUSY: ['服務同時處理的請求已達上限。', retry],
  SERVICE_UNAVAILABLE: ['無法連線到某個服務或其儲存庫。', retry],
  SERVICE_TIMEOUT: ['某個服務超過 10 秒沒有回應。', retry],
}
