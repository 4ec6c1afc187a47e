// What a failure means to the people who use the page, and what they can do. What programmers need is in
// explore/failures.ts.

import { CallFailure } from './api'
import { language } from './i18n'
import type { Title } from './description'

const gone = (en: string, zh: string): Title => [
  `This ${en} does not exist, or it was removed. Check the address.`,
  `此${zh}不存在，或已被移除。請檢查網址。`,
]
const busy: Title = ['The server is busy. Wait a minute, then try again.', '伺服器忙碌中。請稍候一分鐘再試。']
const tooOften: Title = [
  'You sent too much in a short time. Wait a minute, then try again.',
  '您在短時間內送出太多請求。請稍候一分鐘再試。',
]

const sentences: Record<string, Title> = {
  NO_REPLY: [
    'The server did not answer. Check your connection, then try again.',
    '伺服器沒有回應。請檢查網路連線後再試。',
  ],
  LOGIN_REQUIRED: [
    'You are not logged in, or your session has ended. Log in, then try again.',
    '您尚未登入，或登入已失效。請登入後再試。',
  ],
  PASSWORD_INCORRECT: [
    'No user has this email and password. Check both, then try again.',
    '電子郵件或密碼不正確。請檢查後再試。',
  ],
  TOO_MANY_ATTEMPTS: [
    'There were too many failed attempts. Try again in a quarter of an hour.',
    '失敗次數過多。請於一刻鐘後再試。',
  ],
  EMAIL_TAKEN: [
    'There is an account with this email already. Log in, or take another email.',
    '此電子郵件已有帳號。請登入，或改用其他電子郵件。',
  ],
  REGISTRATION_CLOSED: [
    'Registration is closed here. Ask the operator for an account.',
    '此服務不開放註冊。請洽管理者。',
  ],
  INVITATION_INVALID: [
    'This invitation is not valid: it is wrong, used or too old. Check it, or ask for a new one.',
    '邀請碼無效：輸入錯誤、已使用或已過期。請檢查或索取新的邀請碼。',
  ],
  NOT_OWNER: [
    'This belongs to another user. Log in as its owner to change it.',
    '這屬於其他使用者。請以擁有者的身分登入後再變更。',
  ],
  USER_NOT_FOUND: gone('user', '使用者'),
  ALBUM_NOT_FOUND: gone('album', '相簿'),
  BLOG_NOT_FOUND: gone('entry', '日記'),
  QUOTED_BLOG_NOT_FOUND: gone('quoted entry', '引用的日記'),
  POI_NOT_FOUND: gone('landmark', '地標'),
  PHOTO_NOT_FOUND: ['This photo was removed. Reload the page.', '此相片已被移除。請重新載入頁面。'],
  PHOTO_NOT_SUPPORTED: [
    'The server does not take this kind of picture. Save it as JPEG, then try again.',
    '伺服器不接受這種圖片。請另存為 JPEG 後再試。',
  ],
  PHOTO_TOO_LARGE: [
    'This photo is too large for the server. Make it smaller, then add it again.',
    '此相片太大，伺服器無法接受。請縮小後再新增。',
  ],
  PHOTO_DAMAGED: [
    'This file is damaged. Open it in a picture program, save it anew, then add it again.',
    '此檔案已損壞。請用圖片程式開啟並重新儲存後再新增。',
  ],
  UPLOADS_OFF: ['This server takes no photos. Ask its operator to allow it.', '此伺服器不接受上傳相片。請洽管理者。'],
  ICON_NOT_FOUND: ['This picture was replaced. Reload the page.', '此頭像已更換。請重新載入頁面。'],
  COMMENT_NOT_FOUND: ['This comment was removed. Reload the page.', '此留言已被移除。請重新載入頁面。'],
  COMMENT_LIMIT_REACHED: [
    'You have as many comments here as one user may have. Remove one first.',
    '您在這裡的留言已達上限。請先移除一則。',
  ],
  ALREADY_VOTED: ['You have already voted here. Each user has one vote.', '您已投過票。每位使用者只能投一次。'],
  CONFLICT: ['Another user changed this at the same time. Try again.', '有人同時做了變更。請再試一次。'],
  INTERNAL_ERROR: [
    'The server made an error. Try again; if it fails again, send the details to the operator.',
    '伺服器發生錯誤。請再試一次；若仍失敗，請將詳細資料告知管理者。',
  ],
  CROSS_SITE_REQUEST: [
    'The server does not accept changes from this address. Open the page at the address of the service.',
    '伺服器不接受來自此網址的變更。請從服務的網址開啟頁面。',
  ],
  INVALID_PARAMETER: [
    'The server did not accept an input. The details name it; correct it, then try again.',
    '伺服器不接受某項輸入。詳細資料會指出是哪一項；請修正後再試。',
  ],
  REQUEST_TOO_LARGE: [
    'This is too long for the server. Shorten it, then try again.',
    '內容太長，伺服器無法接受。請縮短後再試。',
  ],
  TOO_MANY_COMMENTS: [
    'You wrote many comments here in a short time. Wait a minute, then try again.',
    '您在短時間內留言太多。請稍候一分鐘再試。',
  ],
  TOO_MANY_REQUESTS: tooOften,
  TOO_MANY_MISSES: tooOften,
  TOO_MANY_WRITES: tooOften,
  TOO_MANY_LONG_REPLIES: tooOften,
  TOO_MANY_UPLOADS: tooOften,
  SERVICE_BUSY: busy,
  SERVICE_UNAVAILABLE: busy,
  SERVICE_TIMEOUT: busy,
}

const otherwise: Title = [
  'This did not work. Try again; if it fails again, send the details to the operator.',
  '操作失敗。請再試一次；若仍失敗，請將詳細資料告知管理者。',
]

/** Returns what happened and what to do, in the language of the page. */
export function failureSentence(error: unknown): string {
  const reason = error instanceof CallFailure ? error.reason : ''
  const sentence = Object.hasOwn(sentences, reason) ? sentences[reason]! : otherwise
  return sentence[language.value === 'en' ? 0 : 1]
}

/** Returns what programmers need of a failure: the service's words, the reason, the status and the request. */
export function failureDetails(error: unknown): string {
  if (!(error instanceof CallFailure)) return error instanceof Error ? error.message : String(error)
  const { info, reason, status, requestID } = error
  return [info, reason, status > 0 && `HTTP ${status}`, requestID && `X-Request-Id: ${requestID}`]
    .filter(Boolean)
    .join(' · ')
}
